import type { OperationRecord } from '../operation/record.ts'
import type { ResolvedOptions } from '../policy/resolved-options.ts'
import type { CallCredentials } from '../request-input.ts'

/**
 * Would the server miss credentials that the call had? They are never written down, so only who called has them.
 * The client's own `headers` take the place of headers; nothing takes the place of a query parameter.
 */
export function lacksCredentials(
  options: ResolvedOptions,
  { request }: OperationRecord,
  credentials: CallCredentials | undefined,
): boolean {
  if (credentials || request.withheld.length === 0) return false
  return options.headers === undefined || request.withheld.some((name) => name.startsWith('?'))
}
