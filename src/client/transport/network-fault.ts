import { type AbortLike, abortReason } from '../../foundation/abort.ts'
import type { JudgeCode, Judgement } from './fault-codes.ts'
import type { TransportFault } from './port.ts'

/** A chain of causes may be a circle, and a bundle may hold itself. */
const DEEPEST = 10
const WIDEST = 16
const BUNDLE_DEPTH = 4

/**
 * Errors of these kinds come from the program. A `TypeError` does not count: it is how every fetch reports the network,
 * and its message may be in any language. msw throws an `InternalError` for a request that has no handler.
 */
const PROGRAM_ERRORS = new Set([
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'EvalError',
  'URIError',
  'InternalError',
])

/**
 * Did it leave this machine, and can another attempt help? Looks through causes and bundles of errors; reads codes
 * where it is told how, which a browser's errors don't have.
 */
export function toFault(error: unknown, judgeCode?: JudgeCode): TransportFault {
  const { lasting, ...judgement } = judgeSafely(error, judgeCode)
  if (!lasting) return { kind: 'fault', ...judgement, cause: error }
  return {
    kind: 'fault',
    ...judgement,
    lasting,
    cause: new Error("The server's certificate can't be trusted", { cause: error }),
  }
}

/** The attempt's own signal ended it. */
export function abortedFault(signal: AbortLike, fate: Pick<TransportFault, 'mayHaveArrived'>): TransportFault {
  return { kind: 'fault', code: 'aborted', ...fate, transient: true, cause: abortReason(signal) }
}

/** A redirect led to an origin that must not get the request: a captive portal, say. It was not followed. */
export function untrustedRedirect(origin: string): TransportFault {
  const cause = new Error(`Redirected to ${origin}, which is not a trusted origin`)
  return { kind: 'fault', code: 'untrusted-redirect', mayHaveArrived: true, transient: true, cause }
}

/** Anything can be thrown, also an object whose properties throw. */
function judgeSafely(error: unknown, judgeCode: JudgeCode | undefined): Judgement {
  try {
    return judge(error, 0, judgeCode) ?? judgeByKind(error)
  } catch {
    return { code: 'network', mayHaveArrived: true, transient: true }
  }
}

function judge(error: unknown, depth: number, judgeCode: JudgeCode | undefined): Judgement | undefined {
  if (typeof error !== 'object' || error === null || depth > DEEPEST) return undefined
  const { code, syscall, cause, errors, name, message } = error as Record<string, unknown>
  if (Array.isArray(errors) && errors.length > 0) return judgeAll(errors, depth, judgeCode)
  const byCode = judgeCode?.(code, syscall, message)
  if (byCode) return byCode
  const byCause = judge(cause, depth + 1, judgeCode)
  if (byCause) return byCause
  const isAbort = name === 'AbortError' || name === 'TimeoutError'
  return isAbort ? { code: 'aborted', mayHaveArrived: true, transient: true } : undefined
}

/** One per address that was tried: if any of them may have arrived, the request may have. */
function judgeAll(errors: readonly unknown[], depth: number, judgeCode: JudgeCode | undefined): Judgement | undefined {
  const judgements = errors.slice(0, WIDEST).map((error) => judge(error, depth + BUNDLE_DEPTH, judgeCode))
  const first = judgements.find((judgement) => judgement !== undefined)
  if (!first) return undefined
  return {
    code: first.code,
    mayHaveArrived: errors.length > WIDEST || judgements.some((judgement) => judgement?.mayHaveArrived ?? true),
    transient: judgements.some((judgement) => judgement?.transient ?? true),
    lasting: judgements.every((judgement) => judgement?.lasting),
  }
}

function judgeByKind(error: unknown): Judgement {
  const fromProgram = error instanceof Error && PROGRAM_ERRORS.has(error.name)
  return { code: fromProgram ? error.name : 'network', mayHaveArrived: true, transient: !fromProgram }
}
