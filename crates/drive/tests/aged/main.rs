//! Drives that are old without having been worked: aged without timing, constructed, restored from an image.

mod age;
mod image;
mod small;
mod steady;
