import {
  checkBoolean,
  checkDuration,
  checkLabel,
  checkSignal,
  oneOf,
  wholeFrom,
} from '../configuration/option-checks.ts'
import { readOptions } from '../configuration/read-options.ts'
import type { CloseOptions, DeadLettersQuery, OperationsQuery, ResumeOptions, RetryCallOptions } from './client.ts'
import { OPERATION_STATUSES } from './operation/record.ts'

/* The options of the functions of a client that are no calls: each value checked, each unknown name refused. */

/**
 * How many a server gets at once is for the gate of its origin; this bounds what a process holds. Thousands of servers that
 * hang, each with one operation on its way, leave room for the others.
 */
const MOST_AT_ONCE = 5000

export function readResume(given: ResumeOptions | undefined) {
  return readOptions('resume', given, {
    continuous: [false, checkBoolean],
    signal: [undefined, checkSignal],
    concurrency: [MOST_AT_ONCE, wholeFrom(1)],
  })
}

export function readQuery(given: OperationsQuery | undefined) {
  return readOptions('operations', given, {
    status: [undefined, oneOf(...OPERATION_STATUSES)],
    limit: [undefined, wholeFrom(0)],
    after: [undefined, checkLabel],
  })
}

export function readDeadLetters(given: DeadLettersQuery | undefined) {
  return readOptions('deadLetters', given, { limit: [undefined, wholeFrom(0)], after: [undefined, checkLabel] })
}

export function readRetry(given: RetryCallOptions | undefined) {
  return readOptions('retry', given, { signal: [undefined, checkSignal], deadline: [undefined, checkDuration] })
}

export function readClose(given: CloseOptions | undefined) {
  return readOptions('close', given, { grace: [undefined, checkDuration] })
}
