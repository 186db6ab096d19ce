import { checkLabel, refuseOption } from '../configuration/option-checks.ts'
import { isAccidentalScope } from './admission/check-scope.ts'

/** A scope that a program names itself. An accident, such as `tenant-undefined`, is not the tenant that was meant. */
export function checkScopeName(option: string, value: unknown): string {
  const scope = checkLabel(option, value)
  if (!isAccidentalScope(scope)) return scope
  return refuseOption(option, 'the name of a queue, tenant or account that is there', scope)
}
