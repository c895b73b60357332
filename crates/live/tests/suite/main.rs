//! Live drives, asked from inside the process; their media, whose process dies; and the sockets at which they are looked at.

mod aged;
mod aligned;
mod carried;
mod client;
mod common;
mod control;
mod cuts;
mod driven;
mod failing;
mod faults;
mod full;
mod guarded;
mod held;
mod hinted;
mod insecure;
mod lived;
mod locks;
mod lost;
mod metrics;
mod openmetrics;
mod power;
mod quotas;
mod replay;
mod swarm;
