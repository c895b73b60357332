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
    const plot = svg.querySelector('svg.lines');
    const { width, height } = plot.viewBox.baseVal;
    const cursor = svg.querySelector('.cursor');
    const names = (svg.dataset.names || '').split('|').filter(text => text)
      .map(text => [Number(text.slice(0, text.indexOf(' '))), text.slice(text.indexOf(' ') + 1)]);
    const lines = [...plot.querySelectorAll('path.line')].map(path => ({
      label: path.dataset.label,
      points: path.getAttribute('d').split(/[ML]/).slice(1).map(pair => pair.split(' ').map(Number)),
      // What the scale has no room for.
      above: new Map((path.dataset.above || '').split('|').filter(pair => pair).map(pair => pair.split(' ').map(Number))),
    }));
    const nearest = (all, at) => all.reduce((best, one) => Math.abs(one[0] - at) < Math.abs(best[0] - at) ? one : best, all[0]);
    svg.addEventListener('pointermove', event => {
      const at = pointer(plot, event);
      if (at.x < -8 || at.x > width + 8 || !lines.length) { hide(); cursor.style.visibility = 'hidden'; return; }
      let where = null;
      const rows = [];
      for (const line of lines) {
        const best = nearest(line.points, at.x);
        if (Math.abs(best[0] - at.x) > width / 12) continue;
        where = where === null ? best[0] : where;
        const value = line.above.has(best[0]) ? line.above.get(best[0]) : y.value((height - best[1]) / height);
        rows.push(line.label + '  ' + word(value, y.unit));
      }
      if (where === null) { hide(); cursor.style.visibility = 'hidden'; return; }
      cursor.setAttribute('x1', where); cursor.setAttribute('x2', where);
      cursor.setAttribute('y1', 0); cursor.setAttribute('y2', height);
      cursor.style.visibility = 'visible';
      show(event, [names.length ? nearest(names, where / width)[1] : word(x.value(where / width), x.unit), ...rows].join('\n'));
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

  // Tables sort by the column whose name is pressed, as numbers where there are numbers; once more turns the order round.
  const scale = { ns: 1e-3, 'µs': 1, ms: 1e3, s: 1e6, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, k: 1e3, M: 1e6, G: 1e9 };
  const parts = cell => {
    const text = cell.textContent.trim();
    const found = /^([−-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s?([A-Za-zµ]*)/.exec(text);
    return { text, value: found ? Number(found[1].replace(/,/g, '').replace('−', '-')) * (scale[found[2]] || 1) : null };
  };
  for (const head of document.querySelectorAll('table > thead')) {
    const body = head.nextElementSibling;
    if (!body || body.rows.length < 3 || head.parentElement.matches('.figures')) continue;
    const heads = [...head.rows[0].cells];
    heads.forEach((cell, column) => {
      const button = document.createElement('button');
      button.append(...cell.childNodes);
      button.title = 'sort by this column';
      cell.append(button);
      button.addEventListener('click', () => {
        const down = cell.getAttribute('aria-sort') === 'ascending';
        heads.forEach(other => other.removeAttribute('aria-sort'));
        cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        const rows = [...body.rows].map(row => ({ row, ...parts(row.cells[column] || row) }));
        rows.sort((a, b) => {
          // What has no number stands below, either way.
          const none = (a.value === null) - (b.value === null);
          if (none) return none;
          const order = a.value === null ? a.text.localeCompare(b.text) : a.value - b.value;
          return down ? -order : order;
        });
        body.append(...rows.map(one => one.row));
      });
    });
  }
})();
