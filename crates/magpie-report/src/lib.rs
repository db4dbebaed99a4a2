//! What a run has found, for people: pictures that need no other program.
//!
//! A [`plot::Figure`] is drawn as SVG, for pages, and can be turned into PNG, for everything else; the font comes with
//! the crate, so that a picture has the same pixels everywhere. Input is plain data: nothing here knows what a run is.

pub mod plot;
