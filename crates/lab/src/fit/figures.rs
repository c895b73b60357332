//! Figures of a fit: one page with everything, and the one picture for the documentation.

use wordline_pages::html::document;
use wordline_pages::html::figure::{Curve, Curves, Figure, Heat, Scale};

use super::digest::{Digest, LEVELS};
use super::judge::{Verdict, deviate, layer_agreement};
use super::outcome::Outcome;
use super::report::{ppm, retentions, text};

/// The page with the residuals of a fit.
pub fn page(outcome: &Outcome, digest: &Digest, name: &str) -> String {
    let table = format!("<pre>{}</pre>", wordline_pages::html::escape(&text(outcome)));
    let html = |figures: Vec<Figure>| figures.iter().map(Figure::html).collect::<Vec<_>>();
    let sections = vec![
        ("How near it comes".to_owned(), "stack", vec![table]),
        ("Misreads".to_owned(), "grid", html(vec![misreads(outcome), ratios(outcome)])),
        ("States".to_owned(), "grid", html(levels(outcome, digest))),
        ("Tails".to_owned(), "grid", html(tails(outcome, digest))),
        ("Layers".to_owned(), "grid", html(vec![layers(outcome)])),
    ];
    document(&format!("Fit of {name}"), "measured histograms and the chip fitted to them", &sections)
}

/// Figure of misreads over P/E cycles: points measured, lines predicted.
pub fn misreads(outcome: &Outcome) -> Figure {
    let mut curves = Vec::new();
    for (place, index) in retentions(&outcome.verdicts).into_iter().enumerate() {
        let measured = outcome
            .verdicts
            .iter()
            .filter(|verdict| verdict.retention == index)
            .map(|verdict| (f64::from(verdict.pe), ppm(&verdict.measured)));
        curves.push(Curve { label: format!("retention {index}, measured"), colour: place, dashed: true, points: measured.collect() });
        let predicted = outcome.course.iter().map(|(pe, misreads)| (f64::from(*pe), misreads[place] * 1e6));
        curves.push(Curve { label: format!("retention {index}, predicted"), colour: place, dashed: false, points: predicted.collect() });
    }
    Figure::Curves(Curves {
        title: "Misreads over P/E cycles".to_owned(),
        note: "mean of the boundaries at the best step. Solid: predicted for the mean layer, also between and beyond what was measured"
            .to_owned(),
        x: Scale::from_zero("P/E cycles"),
        y: Scale::log("cells misread, ppm"),
        curves,
        marks: Vec::new(),
    })
}

/// Figure of predicted over measured misreads for each boundary and condition.
fn ratios(outcome: &Outcome) -> Figure {
    let boundaries = outcome.verdicts.first().map_or(0, |verdict| verdict.measured.len());
    let row = |verdict: &Verdict| {
        let held = if verdict.held_out { ", held out" } else { "" };
        let values = verdict.predicted.iter().zip(&verdict.measured).map(|(predicted, measured)| predicted / measured).collect();
        (format!("P/E {}, retention {}{held}", verdict.pe, verdict.retention), values)
    };
    Figure::Heat(Heat {
        title: "Misreads, predicted over measured".to_owned(),
        note: "1 is right".to_owned(),
        x: "boundary".to_owned(),
        y: "condition".to_owned(),
        columns: (0..boundaries).map(|boundary| format!("P{}/P{}", boundary + 1, boundary + 2)).collect(),
        rows: outcome.verdicts.iter().map(row).collect(),
        log: false,
    })
}

/// Figures of the median and width of the outermost and the middle state over P/E cycles, for the first retention index and the last but one.
fn levels(outcome: &Outcome, digest: &Digest) -> Vec<Figure> {
    let retentions = digest.retentions();
    let shown = [retentions[0], retentions[retentions.len().saturating_sub(2)]];
    let middle = LEVELS.len() / 2;
    let figure = |title: &str, y: &str, value: &dyn Fn(&[f64; LEVELS.len()]) -> f64, base: bool| {
        let mut curves = Vec::new();
        for (colour, state) in [0, digest.states / 2, digest.states - 1].into_iter().enumerate() {
            for (shift, &retention) in shown.iter().enumerate() {
                let (mut measured, mut predicted) = (Vec::new(), Vec::new());
                let zero = if base { value(&digest.conditions[0].mean_quantiles(state)) } else { 0.0 };
                for (condition, verdict) in digest.conditions.iter().zip(&outcome.verdicts).filter(|pair| pair.0.retention == retention) {
                    let quantiles = condition.mean_quantiles(state);
                    let model = std::array::from_fn(|level| quantiles[level] + verdict.residuals[state][level]);
                    measured.push((f64::from(condition.pe), value(&quantiles) - zero));
                    predicted.push((f64::from(condition.pe), value(&model) - zero));
                }
                let label = format!("P{}, retention {retention}", state + 1);
                let colour = colour * shown.len() + shift;
                curves.push(Curve { label: format!("{label}, measured"), colour, dashed: true, points: measured });
                curves.push(Curve { label, colour, dashed: false, points: predicted });
            }
        }
        Figure::Curves(Curves {
            title: title.to_owned(),
            note: "solid: fitted; dashed: measured".to_owned(),
            x: Scale::from_zero("P/E cycles"),
            y: Scale::even(y),
            curves,
            marks: Vec::new(),
        })
    };
    vec![
        figure("Where the states stand", "median over the fresh one, steps", &|quantiles| quantiles[middle], true),
        figure("How wide they are", "5 % to 95 %, steps", &|quantiles| quantiles[middle + 2] - quantiles[middle - 2], false),
    ]
}

/// Figures of the quantiles of the states, freshest and most worn: straight lines would be normal distributions.
fn tails(outcome: &Outcome, digest: &Digest) -> Vec<Figure> {
    let worst =
        (0..digest.conditions.len()).max_by(|&a, &b| ppm(&outcome.verdicts[a].measured).total_cmp(&ppm(&outcome.verdicts[b].measured)));
    let mut figures = Vec::new();
    for number in [0, worst.unwrap_or(0)] {
        let (condition, verdict) = (&digest.conditions[number], &outcome.verdicts[number]);
        let mut curves = Vec::new();
        for state in 0..digest.states {
            let quantiles = condition.mean_quantiles(state);
            let place = |level: usize| deviate(LEVELS[level]);
            let measured = (0..LEVELS.len()).map(|level| (quantiles[level], place(level))).collect();
            let fitted = (0..LEVELS.len()).map(|level| (quantiles[level] + verdict.residuals[state][level], place(level))).collect();
            curves.push(Curve { label: format!("P{}, measured", state + 1), colour: state, dashed: true, points: measured });
            curves.push(Curve { label: format!("P{}", state + 1), colour: state, dashed: false, points: fitted });
        }
        figures.push(Figure::Curves(Curves {
            title: format!("Quantiles at P/E {}, retention {}", condition.pe, condition.retention),
            note: "a normal distribution is a straight line; solid: fitted, dashed: measured".to_owned(),
            x: Scale::even("threshold voltage, steps"),
            y: Scale::even("normal deviate"),
            curves,
            marks: Vec::new(),
        }));
    }
    figures
}

/// Figure of errors over the layers.
fn layers(outcome: &Outcome) -> Figure {
    let count = outcome.verdicts.first().map_or(0, |verdict| verdict.layers.len());
    let mean = |layer: usize, of: fn(&(f64, f64)) -> f64| {
        let relative = outcome.verdicts.iter().map(|verdict| {
            let mean = verdict.layers.iter().map(of).sum::<f64>() / count as f64;
            of(&verdict.layers[layer]) / mean
        });
        (layer as f64, relative.sum::<f64>() / outcome.verdicts.len() as f64)
    };
    let curve = |label: &str, dashed: bool, of: fn(&(f64, f64)) -> f64| Curve {
        label: label.to_owned(),
        colour: usize::from(dashed),
        dashed,
        points: (0..count).map(|layer| mean(layer, of)).collect(),
    };
    let (correlation, _, _) = layer_agreement(&outcome.verdicts);
    Figure::Curves(Curves {
        title: "Misreads over the layers".to_owned(),
        note: format!("relative to the mean layer, mean of all conditions; correlation {correlation:.2}"),
        x: Scale::from_zero("layer, from the top"),
        y: Scale::even("misreads, relative"),
        curves: vec![curve("predicted", false, |pair| pair.1), curve("measured", true, |pair| pair.0)],
        marks: Vec::new(),
    })
}
