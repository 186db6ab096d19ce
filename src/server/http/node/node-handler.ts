import type { IncomingMessage, ServerResponse } from 'node:http'
import { ConfigurationError } from '../../../errors/classes.ts'
import { type EffectReturn, isReply } from '../../entry/reply.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { ProtectOptions } from '../../guard/protect-options.ts'
import type { Session } from '../../guard/session.ts'
import { isResponse } from '../fetch/fetch-answer.ts'
import type { GuardingLedger } from '../guarding-ledger.ts'
import type { Answer } from '../port.ts'
import { HeldResponse } from './held-response.ts'
import { nodeInbound } from './node-inbound.ts'
import { sendAnswer } from './send-answer.ts'
import { sendResponse } from './send-response.ts'
import { isThrown, watchRoutes } from './watch-routes.ts'

/** A request with what its handler knows of the operation that it serves. */
export type Idempotent<Req, Tx = unknown, Returned = EffectReturn> = Req & {
  readonly idempotency: IdempotencyContext<Tx, Returned>
}

export type NextFunction = (error?: unknown) => void

export interface NodeHandlerOptions extends ProtectOptions {
  /** Told of what a handler throws where there is no `next` to tell. Default: a warning of the process. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/**
 * A handler of `node:http`, or of a route in Express or Connect, that does its work once per key. Its answer is held
 * until it is on record. Returns `effect`'s reply or a `Response`, or answers by `res` as ever; where it used `effect`,
 * that reply is what is sent.
 *
 * @example
 * app.post('/charges', express.json(), nodeHandler(ledger, (req) => req.idempotency.effect((tx) => …)))
 */
export function nodeHandler<
  Tx,
  Returned,
  Native,
  Req extends IncomingMessage & Native = IncomingMessage & Native,
  Res extends ServerResponse = ServerResponse,
>(
  ledger: GuardingLedger<Tx, Returned, Native>,
  handler: (req: Idempotent<Req, Tx, Returned>, res: Res, next: NextFunction) => unknown,
  options: NodeHandlerOptions = {},
): (req: Req, res: Res, next?: NextFunction) => Promise<void> {
  if (typeof handler !== 'function') {
    throw new ConfigurationError('nodeHandler() needs a handler: nodeHandler(ledger, (req, res) => …, options)')
  }
  const { onError = warn, ...said } = options
  const protection = Object.keys(said).length === 0 ? undefined : said
  return async (req, res, next) => {
    const reject = (error: unknown): void => {
      if (next) return void next(error)
      onError(error)
      if (!res.headersSent) sendAnswer(res, SERVER_ERROR)
    }
    try {
      const begun = await ledger.begin(nodeInbound(req, ledger.limits.maxRequestBytes), protection)
      if (begun.kind === 'answered') return sendAnswer(res, begun.answer)
      const limit = ledger.limits.maxResponseBytes
      const turn: Turn = { req, session: begun.session, res, limit, reject, onError, next, failures: new Set() }
      const held = hold(turn)
      const context = contextFor(turn, held)
      await run(turn, held, (inner) =>
        handler(Object.assign(req, { idempotency: context as IdempotencyContext<Tx, Returned> }), res, inner),
      )
    } catch (error) {
      // Nobody is there to be told.
      if (!(req.destroyed && !req.complete)) reject(error)
    }
  }
}

/** One request that a handler works on. */
interface Turn {
  readonly req: IncomingMessage
  readonly session: Session
  readonly res: ServerResponse
  readonly limit: number
  /** Hands an error to the framework. */
  readonly reject: (error: unknown) => void
  readonly onError: (error: unknown) => void
  readonly next: NextFunction | undefined
  /** The handler function has come back. */
  returned?: boolean
  /** What was taken for its failure already: a pipeline destroys the response and rejects, for one reason. */
  readonly failures: Set<unknown>
}

const encoder = new TextEncoder()

const SERVER_ERROR: Answer = {
  status: 500,
  headers: [['content-type', 'application/problem+json']],
  body: encoder.encode('{"type":"about:blank","title":"Internal Server Error","status":500}'),
}

/** The answer of a handler that sends none, because its effect has one. */
const NOTHING: Answer = { status: 204, headers: [], body: null }

function hold(turn: Turn): HeldResponse {
  const { res, session, limit, reject } = turn
  const held: HeldResponse = new HeldResponse(res, {
    limit,
    decides: () => session.decides,
    complete: (answer) => session.complete(answer),
    onDestroyed: (error) => void fail(turn, held, error),
    onError: (error) => {
      held.letGo()
      reject(error)
    },
  })
  return held
}

/** A handler that works by callbacks has come back before its effect has ended; nobody else would send its reply. */
function contextFor(turn: Turn, held: HeldResponse): IdempotencyContext {
  const { context } = turn.session
  const effect: IdempotencyContext['effect'] = async (work, options) => {
    const reply = await context.effect(work, options)
    if (turn.returned && !held.isGiven && turn.session.answersWith === 'effect') void held.answer(NOTHING)
    return reply
  }
  return { ...context, effect }
}

async function run(turn: Turn, held: HeldResponse, handle: (next: NextFunction) => unknown): Promise<void> {
  const { req, session, next } = turn
  const inner: NextFunction = (error) => {
    if (isThrown(error)) return void fail(turn, held, error)
    if (session.isExternal) watchRoutes(req, (thrown, reject) => void fail({ ...turn, reject }, held, thrown))
    next?.(error)
  }
  try {
    const returned = await handle(inner)
    turn.returned = true
    if (held.isGiven) return
    if (isReply(returned)) await held.answer(returned)
    else if (session.answersWith !== 'handler') await held.answer(NOTHING)
    else if (isResponse(returned)) await sendResponse(turn, held, returned)
  } catch (error) {
    await fail(turn, held, error)
  }
}

async function fail(turn: Turn, held: HeldResponse, error: unknown): Promise<void> {
  const { session, reject, onError, failures } = turn
  if (failures.has(error)) return
  failures.add(error)
  const wasGiven = held.isGiven
  const instead = await session.fail(error)
  if (wasGiven) {
    held.cutOff()
    return onError(error)
  }
  if (instead) return held.replace(instead)
  held.letGo()
  reject(error)
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}
