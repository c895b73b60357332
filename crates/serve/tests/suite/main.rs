//! The server from outside, through sockets: ordinary clients, disks that answer late, and peers that mean harm.

mod aged;
mod aligned;
mod carried;
mod common;
mod control;
mod cuts;
mod drive;
mod driven;
mod faults;
mod full;
mod guarded;
mod held;
mod hostile;
mod insecure;
mod late;
mod lived;
mod locks;
mod metrics;
mod openmetrics;
mod ordinary;
mod power;
mod replay;
mod strangers;
mod swarm;
mod tls;
