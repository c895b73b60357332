//! The server from outside, through sockets: ordinary clients, disks that answer late, and peers that mean harm.

mod aged;
mod common;
mod control;
mod cuts;
mod drive;
mod driven;
mod hostile;
mod insecure;
mod late;
mod locks;
mod ordinary;
mod replay;
mod swarm;
mod tls;
