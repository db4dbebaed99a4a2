//! The reference of the columns of `metrics.csv` is what is declared.

use std::path::Path;

#[test]
fn the_reference_of_metrics_is_current() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/metrics.md");
    let wanted = magpie_run::metrics_reference();
    if std::env::var_os("MAGPIE_WRITE_DOCS").is_some() {
        std::fs::create_dir_all(page.parent().unwrap()).unwrap();
        std::fs::write(&page, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/reference/metrics.md is not current; write it with MAGPIE_WRITE_DOCS=1 cargo test -p magpie-run --test reference"
    );
}
