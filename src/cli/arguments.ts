import { readFileSync } from 'node:fs'
import { type Duration, parseDuration } from '../foundation/duration.ts'
import type { HeaderList } from '../protocol/headers.ts'
import { type Command, InvalidArgumentError, Option } from './libraries.ts'
import { WrongUsage } from './terminal.ts'

/* The options that several commands share, and what their values may be. A wrong value is wrong usage: exit code 2. */

export interface DatabaseOptions {
  readonly db?: string
  readonly schema: string
  readonly json?: boolean
}

export function withDatabase(command: Command): Command {
  return command
    .option('--db <place>', 'a SQLite file or a postgres:// URL (default: $HOLDFAST_DB or .holdfast/operations.db)')
    .option('--schema <name>', 'the schema of the tables, in Postgres', 'holdfast')
    .option('--json', 'print JSON')
}

export interface JournalOptions extends DatabaseOptions {
  readonly namespace: string
}

export function withJournal(command: Command): Command {
  return withDatabase(command).option('--namespace <name>', 'the namespace of the client', 'default')
}

export interface SendingOptions extends JournalOptions {
  readonly baseUrl?: string
  readonly header?: HeaderList
  readonly trustedOrigin?: readonly string[]
}

/** For commands that send what is in the journal. */
export function withSending(command: Command): Command {
  return withJournal(command)
    .option('--base-url <url>', 'the only origin that operations are sent to')
    .option('--header <line>', "a header for that origin, 'Name: value' or @file with one a line", readHeader)
    .option('--trusted-origin <origin>', 'a further origin that gets the headers', collect)
}

/** Examples below the options, each with what it does. */
export function withExamples(command: Command, examples: readonly (readonly [line: string, does: string])[]): Command {
  const lines = examples.map(([line, does]) => `  ${line}\n      ${does}`)
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** A whole number from 1, or `all`. */
export function readLimit(value: string): number {
  return value === 'all' ? Number.POSITIVE_INFINITY : readCount(value)
}

export function readCount(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('It has to be a whole number from 1.')
  return Number(value)
}

export function durationOption(flags: string, does: string, byDefault: Duration & string): Option {
  return new Option(flags, does).argParser(readDuration).default(readDuration(byDefault), byDefault)
}

/** Milliseconds. */
function readDuration(value: string): number {
  const ms = parseDuration(value)
  if (ms === undefined) throw new InvalidArgumentError("It has to be a duration, such as '30s' or '5m'.")
  return ms
}

/** `@file` keeps a credential out of the list of processes. */
export function readHeader(value: string, before: HeaderList = []): HeaderList {
  if (!value.startsWith('@')) return [...before, headerOf(value)]
  const lines = readText(value.slice(1)).split(/\r?\n/)
  return [...before, ...lines.filter((line) => line.trim() !== '').map(headerOf)]
}

/** What is wrong is said without the value, which may be a credential: commander's own error would quote it. */
function headerOf(line: string): readonly [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n\0]*)$/.exec(line.trim()) ?? []
  if (name === undefined || value === undefined) throw new WrongUsage("--header has to be 'Name: value' or @file")
  return [name.toLowerCase(), value]
}

export function readText(path: string): string {
  return new TextDecoder().decode(readBytes(path))
}

export function readBytes(path: string): Uint8Array {
  try {
    return new Uint8Array(readFileSync(path))
  } catch {
    throw new InvalidArgumentError(`The file ${path} cannot be read.`)
  }
}
