//! Imports point downwards: ARCHITECTURE.md lists the floors of each crate, and a module may import from lower floors only.
//! A listed module includes its children, unless a child is listed itself.

use crate::steps::Outcome;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The path of a crate's `src`, and the names and texts of its files.
type Crates = BTreeMap<String, Vec<(String, String)>>;
type Names = Vec<String>;

pub(crate) fn check() -> Outcome {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let (Some(files), Some(floors)) = (crate::rules::files(), read("ARCHITECTURE.md")) else {
        return Outcome::Impossible("git ls-files, and ARCHITECTURE.md".into());
    };
    let mut crates = Crates::new();
    for path in files.iter().filter(|path| path.ends_with(".rs")) {
        // A file that git lists may have been deleted.
        if let (Some((before, file)), Some(text)) = (path.split_once("/src/"), read(path)) {
            crates.entry(format!("{before}/src")).or_default().push((file.into(), text));
        }
    }
    crate::rules::report(&breaches(&floors, &crates))
}

fn breaches(floors: &str, crates: &Crates) -> Vec<String> {
    let blocks = floors.split("```floors\n").skip(1).filter_map(|rest| rest.split("\n```").next()?.split_once('\n'));
    let blocks: HashMap<&str, &str> = blocks.collect();
    let mut found = Vec::new();
    for (src, files) in crates.iter().filter(|(_, files)| files.len() > 1) {
        let lines = blocks.get(&**src).into_iter().flat_map(|block| block.lines()).zip(1..);
        let floors = lines.flat_map(|(line, floor)| line.split_whitespace().map(move |module| (module, floor)));
        let floors: HashMap<&str, usize> = floors.collect();
        let floor = |mut module: &str| {
            // The module, or its nearest parent that is listed.
            while !floors.contains_key(module) {
                module = module.rsplit_once('/')?.0;
            }
            Some((module.to_owned(), floors[module]))
        };
        let modules: Vec<&str> = files.iter().map(|(file, _)| file.trim_end_matches(".rs")).collect();
        let unlisted = modules.iter().filter(|module| floor(module).is_none());
        found.extend(unlisted.map(|module| format!("{src}/{module}.rs: no floor lists {module}")));
        let absent = floors.keys().filter(|module| !modules.contains(module));
        found.extend(absent.map(|module| format!("{src}: the floors list {module}, which is not there")));
        let arrows = arrows(files, &modules);
        for (from, line, to) in &arrows {
            if let (Some((unit, above)), Some((imported, below))) = (floor(from), floor(to))
                && unit != imported
                && below <= above
            {
                let circle = if leads(&arrows, to, from) { ", which closes a circle" } else { "" };
                found.push(format!(
                    "{src}/{from}.rs:{line}: {from} (floor {above}) imports {to} (floor {below}){circle}"
                ));
            }
        }
    }
    found
}

/// Whether a module imports another, directly or not.
fn leads(arrows: &[(String, usize, String)], from: &str, to: &str) -> bool {
    let mut seen = HashSet::from([from]);
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        let imported = arrows.iter().filter(|(from, ..)| from == module).map(|(.., to)| &**to);
        next.extend(imported.filter(|imported| seen.insert(imported)));
    }
    seen.contains(to)
}

/// Which module imports which, and in which line.
fn arrows(files: &[(String, String)], modules: &[&str]) -> Vec<(String, usize, String)> {
    let root = if modules.contains(&"lib") { "lib" } else { "main" };
    let mut uses = Vec::new();
    // For a module and a name in it: the path that the name is imported from.
    let mut imports: HashMap<(String, String), Names> = HashMap::new();
    for (module, (_, text)) in modules.iter().zip(files) {
        let here: Names = module.split('/').filter(|name| *name != root).map(String::from).collect();
        let (tokens, mut open, mut inline) = (tokens(text), 0, Vec::new());
        for at in 0..tokens.len() {
            let token = |offset: isize| tokens.get(at.wrapping_add_signed(offset)).map_or("", |token| token.1);
            open += isize::from(token(0) == "{") - isize::from(token(0) == "}");
            inline.retain(|outer| open >= *outer);
            match token(0) {
                "mod" if token(2) == "{" => inline.push(open + 1),
                // A macro is a name of the root.
                "macro_rules" => drop(imports.insert((root.into(), token(2).into()), here.clone())),
                _ => {}
            }
            let is_child = || modules.contains(&&*[&here[..], &[token(0).into()]].concat().join("/"));
            if token(1) != "::" || token(-1) == "::" || !(PREFIXES.contains(&token(0)) || is_child()) {
                continue;
            }
            let mut paths = Vec::new();
            tree(&tokens, &mut at.clone(), &[], &mut paths);
            for (path, name) in paths {
                let mut whole = if path[0] == "crate" { Names::new() } else { here.clone() };
                let supers = path.iter().filter(|segment| *segment == "super").count();
                whole.truncate(whole.len().saturating_sub(supers.saturating_sub(inline.len())));
                whole.extend(path.into_iter().filter(|segment| !PREFIXES.contains(&&**segment)));
                if token(-1) == "use" && inline.is_empty() {
                    imports.insert((module.to_string(), name), whole.clone());
                }
                uses.push((module.to_string(), tokens[at].0, whole));
            }
        }
    }
    let mut arrows: Vec<_> = uses
        .into_iter()
        .map(|(from, line, path)| (from, line, resolve(path, root, modules, &imports)))
        .filter(|(from, _, to)| from != to)
        .collect();
    arrows.dedup_by(|a, b| (&a.0, &a.2) == (&b.0, &b.2));
    arrows
}

/// The module of the crate in which a path ends. Names that a module imports are looked for where it has them from.
fn resolve(path: Names, root: &str, modules: &[&str], imports: &HashMap<(String, String), Names>) -> String {
    let mut module = Names::new();
    for (i, segment) in path.iter().enumerate() {
        module.push(segment.clone());
        if !modules.contains(&&*module.join("/")) {
            module.pop();
            let here = if module.is_empty() { root.to_owned() } else { module.join("/") };
            return match imports.get(&(here.clone(), segment.clone())) {
                Some(from) if !path.starts_with(from) => {
                    resolve([from, &path[i + 1..]].concat(), root, modules, imports)
                }
                _ => here,
            };
        }
    }
    if module.is_empty() { root.to_owned() } else { module.join("/") }
}

/// The paths of a tree such as `crate::{a::B, c as d}`, each with the name that it binds.
fn tree(tokens: &[(usize, &str)], at: &mut usize, before: &[String], found: &mut Vec<(Names, String)>) {
    let mut path = before.to_vec();
    let next = |at: usize| tokens.get(at).map_or("", |token| token.1);
    if next(*at) == "{" {
        while next(*at) != "}" && *at < tokens.len() {
            *at += 1;
            tree(tokens, at, before, found);
        }
        *at += 1;
        return;
    }
    while next(*at).starts_with(|first: char| first.is_alphanumeric() || first == '_') {
        path.push(next(*at).to_owned());
        *at += 1;
        if next(*at) != "::" {
            let renamed = next(*at) == "as";
            let name = if renamed { next(*at + 1).to_owned() } else { path.last().cloned().unwrap_or_default() };
            *at += if renamed { 2 } else { 0 };
            found.push((path, name));
            return;
        }
        *at += 1;
    }
    if next(*at) == "{" {
        tree(tokens, at, &path, found);
    } else if !path.is_empty() {
        // `*`, or the type arguments of a call.
        *at += usize::from(next(*at) == "*");
        found.push((path, "*".into()));
    }
}

/// Words and signs of what is shipped, each with its line: without comments, and without the items for tests.
fn tokens(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut skipped: Option<usize> = None;
    for (line, number) in text.lines().zip(1..) {
        let indentation = line.len() - line.trim_start().len();
        if let Some(outer) = skipped {
            let ends = line.ends_with(';') || line.trim_start().starts_with('}');
            skipped = skipped.filter(|_| !(indentation == outer && ends));
        } else if TESTS.iter().any(|attribute| line.trim_start().starts_with(attribute)) {
            skipped = Some(indentation);
        } else {
            let mut rest = line.split("//").next().unwrap_or_default();
            while let Some(first) = rest.chars().next() {
                let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let length = if rest.starts_with("::") { 2 } else { word.max(first.len_utf8()) };
                if !first.is_whitespace() {
                    found.push((number, &rest[..length]));
                }
                rest = &rest[length..];
            }
        }
    }
    found
}

const PREFIXES: [&str; 3] = ["crate", "self", "super"];
const TESTS: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upward_arrow_a_circle_and_an_unlisted_module_are_found() {
        let floors = "```floors\nc/src\nlib\nkeys\nbackend\nfield\n```\n";
        let found = |field: &str, more: &[(&str, &str)]| {
            let files = [
                ("lib.rs", "mod field;\npub use keys::Key;\nuse crate::backend::{kernel, Name as N};"),
                ("keys.rs", "use crate::{N, field::{self, Element}};\nfn f() { crate::backend::kernel::run::<u8>() }"),
                ("backend.rs", "mod kernel;\n#[cfg(test)]\nmod tests {\n    use crate::keys;\n}\n"),
                ("backend/kernel.rs", "use super::Name; // crate::keys::Key"),
                ("field.rs", field),
            ];
            let files = files.iter().chain(more).map(|(file, text)| (file.to_string(), text.to_string()));
            breaches(floors, &Crates::from([("c/src".to_owned(), files.collect())]))
        };
        assert_eq!(found("", &[]), [""; 0]);
        assert_eq!(
            found("\nuse crate::Key;", &[]),
            ["c/src/field.rs:2: field (floor 4) imports keys (floor 2), which closes a circle"]
        );
        assert_eq!(found("mod m {\n    use super::super::keys;\n}", &[]).len(), 1);
        assert_eq!(found("", &[("new.rs", "")]), ["c/src/new.rs: no floor lists new"]);
    }
}
