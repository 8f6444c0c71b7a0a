//! Arguments of a subcommand that are described when it is called: to describe those of all takes longer than many a run.

use std::sync::atomic::{AtomicBool, Ordering};

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// Whether all are described at once.
static AT_ONCE: AtomicBool = AtomicBool::new(false);

/// From now on all arguments are described at once, for whoever looks at the whole command.
pub fn describe_at_once() {
    AT_ONCE.store(true, Ordering::Relaxed);
}

/// The arguments `A`, later. What the subcommand is for must be said where it is listed.
pub struct Later<A>(pub A);

fn described<A: Args>(command: Command) -> Command {
    let about = command.get_about().cloned().unwrap_or_default();
    // Arguments that several subcommands share say what they are for themselves.
    // A negative number is a wrong value, not an unknown option.
    A::augment_args(command)
        .about(about)
        .allow_negative_numbers(true)
        .mut_subcommands(|command| command.allow_negative_numbers(true))
}

impl<A: Args> Args for Later<A> {
    fn augment_args(command: Command) -> Command {
        match AT_ONCE.load(Ordering::Relaxed) {
            true => described::<A>(command),
            false => command.defer(described::<A>),
        }
    }

    fn augment_args_for_update(command: Command) -> Command {
        A::augment_args_for_update(command)
    }
}

impl<A: FromArgMatches> FromArgMatches for Later<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Later<A>, Error> {
        A::from_arg_matches(matches).map(Later)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
