import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, type } from 'node:os'
import type { Terms } from './terms.ts'

export const SECTIONS = [
  'get',
  'post',
  'cpu',
  'promises',
  'heap',
  'settled',
  'resume',
  'browser',
  'server',
  'growth',
  'fleet',
  'scale',
] as const
export type SectionName = (typeof SECTIONS)[number]

/** One contender: a number for each round. */
export interface Measured {
  readonly name: string
  /** Calls per second. */
  readonly rates: readonly number[]
  /** Microseconds of CPU per call; empty where it was not measured. */
  readonly cpuMicros: readonly number[]
}

/** Contenders that were measured in turns, so that round N of one belongs to round N of the others. */
export interface Comparison {
  readonly title: string
  readonly concurrency: number
  /** The contender that the others are divided by. */
  readonly baseline: string
  readonly measured: readonly Measured[]
}

/** What was measured once. The unit is in the name of each value. */
export interface Fact {
  readonly name: string
  readonly values: Readonly<Record<string, number>>
}

export interface SectionResult {
  readonly comparisons?: readonly Comparison[]
  readonly facts?: readonly Fact[]
}

/** A section's numbers, with what has to be known about the run that they come from. */
export interface Section extends SectionResult {
  /** From a run that only showed that everything works: the numbers mean nothing. */
  readonly quick: boolean
  readonly measuredOn: string
  readonly node: string
  readonly machine: string
  readonly terms: Terms
}

export type Results = Readonly<Partial<Record<SectionName, Section>>>

export function sectionOf(result: SectionResult, { quick, terms }: Pick<Section, 'quick' | 'terms'>): Section {
  return {
    quick,
    measuredOn: new Date().toISOString().slice(0, 10),
    node: process.version,
    machine: `${type()}, ${availableParallelism()} cores`,
    terms,
    ...result,
  }
}

export function readResults(file: string): Results {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results) : {}
}

/** Laid out as Biome does it: a list of numbers is one line. */
export function writeResults(file: string, results: Results): void {
  const text = JSON.stringify(results, null, 2).replace(
    /\[[\d.,\s-]+\]/g,
    (list) => `[${list.slice(1, -1).trim().replace(/\s+/g, ' ')}]`,
  )
  writeFileSync(file, `${text}\n`)
}
