/*
 * What the command line takes from other packages. Built into a file of its own, minified, with their code inside: an
 * installation of the library installs none of them.
 */
export { default as CliTable } from 'cli-table3'
export { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
export { createSpinner } from 'nanospinner'
export { default as picocolors } from 'picocolors'
