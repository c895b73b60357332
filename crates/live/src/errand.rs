//! Work between requests: at a point where every request that had begun is answered and the write buffer is empty.
//!
//! Other requests wait meanwhile. The drive makes a flush, the host's last request before the errand, and for a recording its first.

use std::path::PathBuf;
use std::time::Instant;

use crate::ask::Told;
use crate::disk::Answer;
use crate::record::Recorder;
use crate::worker::Worker;

/// Work to be done at such a point, with the way back to its requester.
#[derive(Debug)]
pub(crate) enum Errand {
    /// Start of a recording.
    Record(Answer),
    /// End of all recordings.
    StopRecording(Answer),
    /// Copy of the media.
    Copy(PathBuf, Answer),
    /// The flush alone: the last client has left.
    Rest(Answer),
    /// The last errand: everything is answered, and no requester is left.
    Stop(Answer),
}

/// Recordings at a time.
const RECORDINGS_MAX: usize = 4;

impl Worker {
    /// Makes what the drive has flushed, if `ok`, as durable as it is to be.
    fn synced(&self, ok: bool) -> Told {
        self.sync_after_flush(ok).map_or_else(Told::Refused, |()| Told::Done)
    }

    fn sync_after_flush(&self, ok: bool) -> Result<(), String> {
        if ok { self.keeper.sync().map_err(|refused| refused.why) } else { Err("the drive could not be flushed".to_owned()) }
    }

    /// Work before the flush of `errand`.
    pub(crate) fn prepare(&mut self, errand: &Errand) {
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
    pub(crate) fn carry_out(&mut self, errand: Errand, ok: bool) {
        // Nothing was written since the flush began; if it failed, all is as unflushed as before.
        self.is_unflushed &= !ok;
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
                let told = match self.sync_after_flush(ok).and_then(|()| self.keeper.copy(&folder)) {
                    Ok(bytes) => Told::Copied { bytes, stood_for: began.elapsed() },
                    Err(why) => Told::Refused(why),
                };
                let _ = answer.send(told);
            }
            Errand::Rest(answer) => {
                let _ = answer.send(self.synced(ok));
            }
            Errand::Stop(answer) => self.stop_after(Some(ok), answer),
        }
    }

    /// Ends recordings and the drive after a flush with this outcome; `None`: nothing was to be flushed, and the drive has no room for a record of its end.
    pub(crate) fn stop_after(&mut self, flushed: Option<bool>, answer: Answer) {
        let look = self.look();
        std::mem::take(&mut self.recorders).into_iter().for_each(|recorder| recorder.end(&look));
        // No request comes any more, so what is written down for an orderly end is in no recording.
        if flushed == Some(true) {
            self.drive.go_down();
        }
        let told = self.synced(flushed.unwrap_or(true));
        // The media are free for others before the stop is reported: see the end of the worker.
        self.last_words = Some((answer, told));
    }
}
