//! Arrhenius law: the time at one temperature that is equivalent to a time at another.
//!
//! `t(T₀) = t(T) · exp(E_a/k_B · (1/T₀ − 1/T))`, 000 §3.1.1. With E_a = 1.1 eV: 13 h at 85 °C are 348 days at 30 °C, 1 h at 50 °C is 13.5 h.

use crate::quantity::Celsius;

/// Boltzmann's constant, as 000 §3.1.1 has it.
const BOLTZMANN_EV_PER_KELVIN: f64 = 8.62e-5;
const KELVIN: f64 = 273.15;

/// Acceleration of a process of activation energy `energy` (eV) at `at` over the same process at `reference`.
pub fn acceleration(energy: f64, at: Celsius, reference: Celsius) -> f64 {
    libm::exp(energy / BOLTZMANN_EV_PER_KELVIN * (1.0 / (reference.0 + KELVIN) - 1.0 / (at.0 + KELVIN)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_source_come_out() {
        let at = |celsius| acceleration(1.1, Celsius(celsius), Celsius(30.0));
        assert!((at(85.0) - 641.9).abs() < 1.0, "{}", at(85.0));
        assert!((at(50.0) - 13.53).abs() < 0.02);
        assert!((at(40.0) - 3.84).abs() < 0.01);
        assert!((at(30.0) - 1.0).abs() < 1e-12);
    }
}
