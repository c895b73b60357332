//! What is done between requests: at a point where every request that had come is answered and the write buffer is empty.
//!
//! Requests that come meanwhile wait. The drive is asked for a flush, which is the host's last word before the errand, and for a recording its first.

use std::path::PathBuf;
use std::time::Instant;

use wordline_chip::Payload;

use super::Answer;
use super::ask::Told;
use super::record::Recorder;
use super::worker::Worker;

/// Something to be done at such a point, and who waits for it.
#[derive(Debug)]
pub(super) enum Errand {
    /// Begin to record.
    Record(Answer),
    /// End all recordings.
    StopRecording(Answer),
    /// Copy the media.
    Copy(PathBuf, Answer),
}

/// Recordings at a time.
const RECORDINGS_MAX: usize = 4;

impl<P: Payload> Worker<P> {
    /// What has to be done before the flush of `errand`.
    pub(super) fn prepare(&mut self, errand: &Errand) {
        let Errand::Record(answer) = errand else { return };
        self.recorders.retain(Recorder::is_heard);
        let told = if self.recorders.len() < RECORDINGS_MAX {
            let (recorder, recording) = Recorder::new(self.is_touched);
            self.recorders.push(recorder);
            Told::Recording(recording)
        } else {
            Told::Refused(format!("{RECORDINGS_MAX} recordings run already"))
        };
        let _ = answer.send(told);
    }

    /// The flush of `errand` has been answered; `ok`: well.
    pub(super) fn carry_out(&mut self, errand: Errand, ok: bool) {
        match errand {
            Errand::Record(_) => {}
            Errand::StopRecording(answer) => {
                let look = self.look();
                let recorders = std::mem::take(&mut self.recorders);
                let told = if recorders.is_empty() { Told::Refused("nothing is being recorded".to_owned()) } else { Told::Done };
                recorders.into_iter().for_each(|recorder| recorder.end(&look));
                let _ = answer.send(told);
            }
            Errand::Copy(folder, answer) => {
                let began = Instant::now();
                let synced = if ok { self.keeper.sync() } else { Err("the drive could not be flushed".to_owned()) };
                let told = match synced.and_then(|()| self.keeper.copy(&folder)) {
                    Ok(bytes) => Told::Copied { bytes, stood_for: began.elapsed() },
                    Err(why) => Told::Refused(why),
                };
                let _ = answer.send(told);
            }
        }
    }
}
