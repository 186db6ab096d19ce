/**
 * How fast operations without a waiting caller are sent again: a gap between two of them, which a failure or a slow
 * answer widens and each timely answer narrows. At a healthy server there is none.
 */
export interface Pace {
  /** Between two kept operations. 0: as fast as the tokens allow. */
  readonly gapMs: number
  /** No kept operation goes before this time. */
  readonly keptAt: number
  /** How long answers usually take, and of how many that is the mean (up to 10). */
  readonly usualMs: number
  readonly answers: number
}

type Gap = Pick<Pace, 'gapMs' | 'keptAt'>

export interface Moment {
  readonly now: number
  readonly random: () => number
  /** Has nothing succeeded for a while? Then the gap is the longest. */
  readonly isSilent?: boolean
}

export interface Success {
  readonly now: number
  readonly kind: keyof typeof QUICKER
  readonly isPrompt: boolean
}

const FIRST_GAP_MS = 100
/** Long enough that 100,000 clients with one kept operation each don't come back faster than a server can take. */
const LONGEST_GAP_MS = 60_000
const NO_GAP_BELOW_MS = 10
/** A kept operation that is done soon shows that there is room for more of them; any other answer, little more than that there is a server. */
const QUICKER = { kept: 6, call: 1.01, retry: 1.01 } as const
const SLOWER = 2
/** An answer is slow when it takes three times as long as usual, and 100 ms. */
const SLOW = { times: 3, ms: 100 }
/** It is prompt up to this. Between the two the server has as much as it can do. */
const PROMPT = { times: 1.5, ms: 30 }
const MOST_ANSWERS = 10
/** What is usual changes over minutes: an overload of half a minute does not become the norm. */
const USUAL_MS = 300_000

export function unpaced(now: number): Pace {
  return { gapMs: 0, keptAt: now, usualMs: 0, answers: 0 }
}

/** Must kept operations wait? Not for longer than the longest wait, however far a clock was set back. */
export function standStill({ keptAt }: Pace, now: number): boolean {
  return now < keptAt && keptAt - now <= 2 * LONGEST_GAP_MS
}

/**
 * A wait that lasts still is not begun again, so that one moment of slowness counts once, and clients come back at
 * times spread over the whole gap.
 */
export function slowDown<State extends Pace>(state: State, { now, random, isSilent }: Moment): State {
  if (standStill(state, now)) return isSilent ? { ...state, gapMs: LONGEST_GAP_MS } : state
  const gapMs = isSilent ? LONGEST_GAP_MS : Math.min(LONGEST_GAP_MS, Math.max(FIRST_GAP_MS, state.gapMs * SLOWER))
  return { ...state, gapMs, keptAt: now + gapMs * 2 * random() }
}

/** After a success. What is left of the wait shrinks with the gap. */
export function quicken(state: Gap, { now, kind, isPrompt }: Success): Gap {
  const quicker = QUICKER[isPrompt ? kind : 'call']
  const gapMs = state.gapMs / quicker
  const keptAt = now + Math.max(0, state.keptAt - now) / quicker
  return { gapMs: gapMs < NO_GAP_BELOW_MS ? 0 : gapMs, keptAt }
}

/** A gap that no kept operation has needed for as long as it can be says nothing of now. */
export function forgetGap<State extends Pace>(state: State, now: number): State {
  return state.gapMs > 0 && now - state.keptAt > LONGEST_GAP_MS ? { ...state, gapMs: 0 } : state
}

/** Does an answer that takes so long, or that has not come by then, show that the server has too much to do? */
export function isSlow(state: Pace, tookMs: number): boolean {
  return isLonger(state, tookMs, SLOW)
}

/** Did it take longer than another one, by more than chance? */
export function isLater(tookMs: number, usualMs: number): boolean {
  return isLonger({ answers: 1, usualMs }, tookMs, PROMPT)
}

function isLonger(
  { answers, usualMs }: Pick<Pace, 'answers' | 'usualMs'>,
  tookMs: number,
  { times, ms }: typeof SLOW,
): boolean {
  return answers > 0 && tookMs > times * usualMs + ms
}

/** Counts the time that an answer took, and says whether that was slow, or prompt. */
export function timed(
  state: Pace & { readonly succeededAt: number },
  { now, tookMs }: { readonly now: number; readonly tookMs: number },
): Pick<Pace, 'usualMs' | 'answers'> & { readonly isSlow: boolean; readonly isPrompt: boolean } {
  const byTime = 1 - Math.exp(-Math.max(0, now - state.succeededAt) / USUAL_MS)
  const weight = state.answers < MOST_ANSWERS ? 1 / (state.answers + 1) : byTime
  const usualMs = state.usualMs + weight * (tookMs - state.usualMs)
  return { usualMs, answers: Math.min(MOST_ANSWERS, state.answers + 1), ...speedOf(state, tookMs) }
}

function speedOf(state: Pace, tookMs: number): { readonly isSlow: boolean; readonly isPrompt: boolean } {
  return { isSlow: isSlow(state, tookMs), isPrompt: !isLonger(state, tookMs, PROMPT) }
}
