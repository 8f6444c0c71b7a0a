//! Arguments of a subcommand that are described when it is called: to describe those of all takes longer than many a run.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// The arguments `A`, later. What the subcommand is for must be said where it is listed.
pub struct Later<A>(pub A);

impl<A: Args> Args for Later<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(A::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(A::augment_args_for_update)
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
