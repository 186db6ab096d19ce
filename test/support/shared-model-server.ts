import type { Clock } from '../../src/foundation/clock.ts'
import {
  type PlainStep,
  type ScriptedCall,
  type ScriptedFetch,
  type StepResult,
  scriptedFetch,
} from '../../src/testing/scripted-fetch.ts'

/** What the network does with one call: everything else is the server's own, honest work. */
export type Weather =
  | 'fine'
  | 'request-lost'
  | 'answer-lost'
  | 'answer-cut'
  | 'answer-html'
  | 'answer-empty'
  | 'hang-before'
  | 'hang-after'
  | PlainStep

export interface ModelServer {
  readonly fetch: ScriptedFetch
  readonly calls: readonly ScriptedCall[]
  /** How often each key took effect. */
  readonly effects: ReadonlyMap<string, number>
  weather: (call: ScriptedCall, n: number) => Weather
}

/** A server that honours the key: the first request with a key takes effect, every further one is answered from its record. */
export function modelServer(clock: Clock): ModelServer {
  const effects = new Map<string, number>()
  const bodies = new Map<string, string>()
  const serve = (call: ScriptedCall): PlainStep => {
    const key = call.headers['idempotency-key'] ?? ''
    const known = bodies.get(key)
    if (known !== undefined && known !== call.text) return { status: 422, body: 'another body under the same key' }
    if (known !== undefined) return { status: 201, json: { key }, headers: { 'idempotency-replayed': 'true' } }
    bodies.set(key, call.text)
    effects.set(key, (effects.get(key) ?? 0) + 1)
    return { status: 201, json: { key } }
  }
  const fetch = scriptedFetch((call, n) => through(server.weather(call, n), () => serve(call)), { clock })
  const server: ModelServer = { fetch, calls: fetch.calls, effects, weather: () => 'fine' }
  return server
}

function cutBody(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) })
}

function through(weather: Weather, serve: () => PlainStep): StepResult {
  if (typeof weather === 'object') return weather
  if (weather === 'request-lost') return { fault: 'reset' }
  if (weather === 'hang-before') return { hang: true }
  const answer = serve()
  if (weather === 'answer-lost') return { fault: 'reset' }
  if (weather === 'answer-html') return { status: 200, body: '<p>Thank you</p>' }
  if (weather === 'answer-empty') return { status: 204 }
  if (weather === 'answer-cut') return new Response(cutBody(), { status: 200 })
  return weather === 'hang-after' ? { hang: true } : answer
}

/** How often anything took effect. */
export function totalEffects({ effects }: ModelServer): number {
  return [...effects.values()].reduce((sum, count) => sum + count, 0)
}
