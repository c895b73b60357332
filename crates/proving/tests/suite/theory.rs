//! Is write amplification what closed forms say?
