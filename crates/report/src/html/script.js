(() => {
  'use strict';
  const tip = document.getElementById('tip');
  const show = (event, text) => {
    tip.textContent = text;
    tip.style.visibility = 'visible';
    const box = tip.getBoundingClientRect();
    const x = event.clientX + 14 + box.width > innerWidth ? event.clientX - 14 - box.width : event.clientX + 14;
    const y = event.clientY + 14 + box.height > innerHeight ? event.clientY - 14 - box.height : event.clientY + 14;
    tip.style.left = Math.max(4, x) + 'px';
    tip.style.top = Math.max(4, y) + 'px';
  };
  const hide = () => { tip.style.visibility = 'hidden'; };
  const round = value => Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
  const word = (value, unit) => {
    if (unit === '%') {
      const left = 100 * (1 - value);
      return (left > 1 ? (100 * value).toFixed(1) : (100 * value).toFixed(Math.min(6, 1 - Math.floor(Math.log10(Math.max(left, 1e-6)))))) + ' %';
    }
    if (unit === 'us') {
      if (value < 1) return round(value * 1e3) + ' ns';
      if (value < 1e3) return round(value) + ' µs';
      return value < 1e6 ? round(value / 1e3) + ' ms' : round(value / 1e6) + ' s';
    }
    return round(value) + (unit ? ' ' + unit : '');
  };
  // The place on an axis, 0 to 1, back to its value.
  const axis = text => {
    const [spread, lowText, highText, unit] = text.split('|');
    const low = Number(lowText), high = Number(highText);
    const value = place => spread === 'linear' ? low + place * (high - low)
      : spread === 'log' ? low * (high / low) ** place
      : 1 - (1 - high) ** place;
    return { unit, value };
  };
  const pointer = (svg, event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());

  for (const svg of document.querySelectorAll('svg.chart')) {
    const x = axis(svg.dataset.x), y = axis(svg.dataset.y);
    const [left, top, width, height] = svg.dataset.plot.split('|').map(Number);
    const cursor = svg.querySelector('.cursor');
    const lines = [...svg.querySelectorAll('path.line')].map(path => ({
      label: path.dataset.label,
      points: path.getAttribute('d').split(/[ML]/).slice(1).map(pair => pair.split(' ').map(Number)),
    }));
    svg.addEventListener('pointermove', event => {
      const at = pointer(svg, event);
      if (at.x < left - 4 || at.x > left + width + 4 || !lines.length) { hide(); cursor.style.visibility = 'hidden'; return; }
      let where = null;
      const rows = [];
      for (const line of lines) {
        let best = line.points[0];
        for (const point of line.points) if (Math.abs(point[0] - at.x) < Math.abs(best[0] - at.x)) best = point;
        if (Math.abs(best[0] - at.x) > width / 12) continue;
        where = where === null ? best[0] : where;
        rows.push(line.label + '  ' + word(y.value((top + height - best[1]) / height), y.unit));
      }
      if (where === null) { hide(); cursor.style.visibility = 'hidden'; return; }
      cursor.setAttribute('x1', where); cursor.setAttribute('x2', where);
      cursor.setAttribute('y1', top); cursor.setAttribute('y2', top + height);
      cursor.style.visibility = 'visible';
      show(event, [word(x.value((where - left) / width), x.unit), ...rows].join('\n'));
    });
    svg.addEventListener('pointerleave', () => { hide(); cursor.style.visibility = 'hidden'; });
  }

  for (const svg of document.querySelectorAll('svg.map')) {
    const [left, top, cellWidth, cellHeight, diesPerRow, blocksPerCell] = svg.dataset.grid.split('|').map(Number);
    const rows = svg.dataset.cells.split('|');
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const range = (name, first, count) => name + (count > 1 ? 's ' + first + '–' + (first + count - 1) : ' ' + first);
    svg.addEventListener('pointermove', event => {
      const at = pointer(svg, event);
      const row = Math.floor((at.y - top) / cellHeight), column = Math.floor((at.x - left) / cellWidth);
      const code = (rows[row] || '')[column];
      if (!code) { hide(); return; }
      const state = { '.': 'free', '!': 'bad', '+': 'being written' }[code] || Math.round(letters.indexOf(code) / 51 * 100) + ' % valid';
      show(event, range('die', row * diesPerRow, diesPerRow) + ', ' + range('block', column * blocksPerCell, blocksPerCell) + '\n' + state);
    });
    svg.addEventListener('pointerleave', hide);
  }

  for (const mark of document.querySelectorAll('[data-tip]')) {
    mark.addEventListener('pointermove', event => show(event, mark.dataset.tip));
    mark.addEventListener('pointerleave', hide);
  }
})();
