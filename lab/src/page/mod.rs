//! The page, drawn from the rows alone.

mod axis;
mod bars;
mod grid;
pub mod number;
mod plot;
mod summary;
mod text;

use std::fs;

use anyhow::Result;

pub use axis::Axis;
pub use bars::{Bar, Bars};
pub use grid::Grid;
pub use plot::{Plot, Point, Series, Whose};

use crate::experiment::Experiment;
use crate::journal::Journal;
use crate::lab::Lab;
use crate::rows::Rows;
use text::{escape, inline};

/// What an experiment shows.
#[derive(Default)]
pub struct Section {
    /// What was done, and whose figures stand beside ours: paragraphs.
    pub lead: Vec<String>,
    pub plots: Vec<Plot>,
    pub bars: Vec<Bars>,
    pub tables: Vec<Grid>,
    /// What to think of the figures: paragraphs.
    pub notes: Vec<String>,
    /// The result in one or two sentences, for the summary.
    pub result: String,
}

/// An experiment with what is known of it.
struct Chapter<'a> {
    experiment: &'a Experiment,
    /// What was noted of its runs.
    runs: Rows,
    /// Nothing before the first row.
    section: Option<Section>,
}

const PARTS: [(&str, &str); 6] = [
    ("a", "Screening a data flow"),
    ("b", "One filter a group, on Hadoop and Spark"),
    ("c", "A store of names beside a hash set"),
    ("d", "Near and similar"),
    ("e", "Streams of addresses"),
    ("f", "umbel beside its peers"),
];

/// Writes index.html and README.md.
pub fn write(lab: &Lab, experiments: &[Experiment]) -> Result<()> {
    let chapters: Vec<Chapter> =
        experiments.iter().map(|experiment| chapter(lab, experiment)).collect::<Result<_>>()?;
    let page = lab.results().join("index.html");
    fs::write(&page, html(lab, &chapters))?;
    fs::write(lab.results().join("README.md"), summary::markdown(lab, &chapters))?;
    eprintln!("{}", page.display());
    Ok(())
}

fn chapter<'a>(lab: &Lab, experiment: &'a Experiment) -> Result<Chapter<'a>> {
    let rows = experiment.rows(lab)?;
    let section = (!rows.is_empty()).then(|| (experiment.show)(&rows));
    Ok(Chapter { experiment, runs: Journal::new(lab).of(experiment.id)?, section })
}

fn html(lab: &Lab, chapters: &[Chapter]) -> String {
    let (mut contents, mut body) = (String::new(), String::new());
    for (letter, name) in PARTS {
        let part: Vec<&Chapter> =
            chapters.iter().filter(|chapter| chapter.experiment.id.starts_with(letter)).collect();
        if part.is_empty() {
            continue;
        }
        let link = |chapter: &&Chapter| {
            let Experiment { id, title, .. } = chapter.experiment;
            format!("<li><a href=\"#{id}\"><b>{id}</b> {}</a></li>", inline(title))
        };
        contents += &format!(
            "<li><a class=\"part\" href=\"#part-{letter}\">{name}</a><ul>{}</ul></li>\n",
            part.iter().map(link).collect::<String>()
        );
        body += &format!(
            "<h2 id=\"part-{letter}\"><span>{}</span> {name}</h2>\n",
            letter.to_uppercase()
        );
        body += &part.iter().map(|chapter| chapter.html(lab)).collect::<String>();
    }
    let kind = if lab.quick {
        "<p class=\"quick\">A quick run: small amounts, three repetitions. Its figures are no results.</p>"
    } else {
        ""
    };
    format!(
        include_str!("frame.html"),
        style = include_str!("style.css"),
        kind = kind,
        contents = contents,
        body = body,
        repetitions = lab.repetitions(),
    )
}

impl Chapter<'_> {
    fn html(&self, lab: &Lab) -> String {
        let Experiment { id, title, .. } = self.experiment;
        let body = match &self.section {
            Some(section) => section.html() + &self.origin(),
            None => format!("<p class=\"missing\">{}</p>\n", inline(&self.missing(lab))),
        };
        let title = inline(title);
        format!(
            "<section id=\"{id}\">\n<h3><a href=\"#{id}\">{id}</a> {title}</h3>\n{body}</section>\n"
        )
    }

    /// Why there is nothing to show.
    fn missing(&self, lab: &Lab) -> String {
        let id = self.experiment.id;
        match lab.quick && self.experiment.engines {
            true => format!(
                "{id} is skipped in quick runs: it needs Hadoop and Spark. `make lab ONLY={id}` does it."
            ),
            false => format!("Not measured yet: `make lab ONLY={id}`."),
        }
    }

    /// The rows, and what made them.
    fn origin(&self) -> String {
        let id = self.experiment.id;
        let list = |column| self.runs.different(column).join("; ");
        format!(
            "<p class=\"origin\"><a href=\"{id}.csv\">{id}.csv</a> <code>{}</code> at {}, {}. {}</p>\n",
            escape(&list("command")),
            escape(&list("commit")),
            escape(&self.when()),
            escape(&list("machine"))
        )
    }

    /// When it was measured, from the first to the last.
    fn when(&self) -> String {
        let times = self.runs.different("time");
        match (times.first(), times.last()) {
            (Some(first), Some(last)) if first != last => {
                format!("{} to {last}", first.trim_end_matches(" UTC"))
            }
            (Some(only), _) => only.clone(),
            _ => String::new(),
        }
    }
}

impl Section {
    fn html(&self) -> String {
        let paragraph = |text: &String| format!("<p>{}</p>\n", inline(text));
        let mut html: String = self.lead.iter().map(paragraph).collect();
        let plots: Vec<String> = self.plots.iter().map(Plot::html).collect();
        let bars: Vec<String> = self.bars.iter().map(Bars::html).collect();
        // A single row of bars stands beside the plots; several have rows of their own.
        let boxes = if bars.len() > 1 { vec![plots, bars] } else { vec![[plots, bars].concat()] };
        for figures in boxes.iter().filter(|figures| !figures.is_empty()) {
            let (number, figures) = (figures.len(), figures.concat());
            html += &format!("<div class=\"plots n{number}\">\n{figures}</div>\n");
        }
        html += &self.tables.iter().map(Grid::html).collect::<String>();
        html + &self.notes.iter().map(paragraph).collect::<String>()
    }
}
