//! The server from outside, through sockets: ordinary clients, disks that answer late, and peers that mean harm.

mod common;
mod drive;
mod hostile;
mod late;
mod ordinary;
mod strangers;
mod tls;
