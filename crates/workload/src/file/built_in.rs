//! The workloads of files that come with the program: the files under `studies/workloads` that have sets.

pub(crate) const FILES: [(&str, &str); 18] = [
    ("mobile", include_str!("../../../../studies/workloads/mobile.toml")),
    ("mailserver", include_str!("../../../../studies/workloads/mailserver.toml")),
    ("fileserver", include_str!("../../../../studies/workloads/fileserver.toml")),
    ("dbserver", include_str!("../../../../studies/workloads/dbserver.toml")),
    ("filebench-fileserver", include_str!("../../../../studies/workloads/filebench-fileserver.toml")),
    ("varmail", include_str!("../../../../studies/workloads/varmail.toml")),
    ("webserver", include_str!("../../../../studies/workloads/webserver.toml")),
    ("webproxy", include_str!("../../../../studies/workloads/webproxy.toml")),
    ("oltp", include_str!("../../../../studies/workloads/oltp.toml")),
    ("oltp-cached", include_str!("../../../../studies/workloads/oltp-cached.toml")),
    ("sysbench-oltp", include_str!("../../../../studies/workloads/sysbench-oltp.toml")),
    ("ntrx", include_str!("../../../../studies/workloads/ntrx.toml")),
    ("rocks", include_str!("../../../../studies/workloads/rocks.toml")),
    ("mongo", include_str!("../../../../studies/workloads/mongo.toml")),
    ("rcftl-oltp", include_str!("../../../../studies/workloads/rcftl-oltp.toml")),
    ("rcftl-ntrx", include_str!("../../../../studies/workloads/rcftl-ntrx.toml")),
    ("rcftl-varmail", include_str!("../../../../studies/workloads/rcftl-varmail.toml")),
    ("rcftl-fileserver", include_str!("../../../../studies/workloads/rcftl-fileserver.toml")),
];
