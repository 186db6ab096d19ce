import { HoldfastError } from '../../../errors/holdfast-error.ts'
import { postgresFailure } from '../../../sql/postgres-failure.ts'
import { SUBJECT } from './ledger-tables.ts'

/** What the store itself ran into; wrong use of it is told as it is. */
export function failureOf(error: unknown): Error {
  return error instanceof HoldfastError ? error : postgresFailure(error, SUBJECT)
}
