import { isReplayed } from '../../protocol/header-names.ts'
import { type DraftSentence, SENTENCES } from './draft.ts'
import { type Answer, isAnswer, type Seen } from './exchange.ts'
import type { Observations, ProbeRun } from './observe-server.ts'
import { type Comparison, compareEffects, type Evidence, evidenceOf, isSuccess } from './same-effect.ts'

/* What a probe has seen, judged. Pure: answers in, verdicts and reasons out. */

export type CheckVerdict = 'pass' | 'fail' | 'unclear'

export type CheckName =
  | 'first request'
  | 'same key again'
  | 'another body'
  | 'at once'
  | 'lost answer'
  | 'later'
  | 'no key'

export interface Check {
  readonly name: CheckName
  readonly verdict: CheckVerdict
  /** What the server did, and what it means. */
  readonly seen: string
  readonly draft: DraftSentence
}

/** `partly`: repeats are recognised, but not in every situation. */
export type ServerVerdict = 'honours' | 'partly' | 'ignores' | 'unclear'

export interface Judgement {
  readonly verdict: ServerVerdict
  readonly checks: readonly Check[]
}

type Judged = readonly [verdict: CheckVerdict, seen: string]

export function judgeServer(run: ProbeRun): Judgement {
  if (!('repeat' in run))
    return { verdict: 'unclear', checks: [check('first request', 'first', judgeFirst(run.first))] }
  const [first, control] = [run.first as Answer, run.control]
  const noEvidence: Evidence = { places: [], provesDifference: false, refusesRepeats: false }
  const evidence = isAnswer(control) ? evidenceOf(first, control) : noEvidence
  const facts = { evidence, marks: [run.repeat, run.later].some(isMarked) }
  const checks = [
    check('first request', 'first', judgeFirst(first)),
    check('same key again', 'retry', judgeRepeat(evidence, first, run.repeat)),
    check('another body', 'otherPayload', judgeOtherBody(evidence, first, run.otherBody)),
    check('at once', 'concurrent', judgeAtOnce(facts, run)),
    check('lost answer', 'retry', judgeLost(facts, run.lost)),
    check('later', 'expiry', judgeRepeat(evidence, first, run.later)),
    ...(run.keyless ? [check('no key', 'missing', judgeKeyless(run.keyless))] : []),
  ]
  return { verdict: verdictOf(checks), checks }
}

function check(name: CheckName, sentence: keyof typeof SENTENCES, [verdict, seen]: Judged): Check {
  return { name, verdict, seen, draft: SENTENCES[sentence] }
}

/** What the server does with a plain repeat decides; everything else makes it less than that. */
function verdictOf(checks: readonly Check[]): ServerVerdict {
  const of = (name: CheckName): CheckVerdict | undefined => checks.find((one) => one.name === name)?.verdict
  if (of('same key again') === 'fail') return 'ignores'
  if (checks.some(({ verdict }) => verdict === 'fail')) return 'partly'
  const decisive: readonly CheckName[] = ['same key again', 'at once', 'later']
  return decisive.every((name) => of(name) === 'pass') ? 'honours' : 'unclear'
}

function judgeFirst(first: Seen): Judged {
  if (isAnswer(first) && isSuccess(first)) return ['pass', `answered ${first.status}`]
  const how = isAnswer(first) ? `was answered ${first.status}` : `got no answer (${first.fault})`
  return ['unclear', `the first request ${how}: a probe needs one that succeeds; see --json-body and --header`]
}

function judgeRepeat(evidence: Evidence, first: Answer, repeat: Seen): Judged {
  if (!isAnswer(repeat)) return ['unclear', `no answer (${repeat.fault})`]
  switch (compareEffects(evidence, first, repeat)) {
    case 'same':
      return ['pass', isMarked(repeat) ? 'replayed, and marked as such' : 'the same answer as the first time']
    case 'different':
      return ['fail', `done again: ${placesText(evidence)} of the answer is another one`]
    case 'refused':
      return ['unclear', `answered ${repeat.status} instead of the first answer: a client can't learn that it was done`]
    case 'unclear':
      return ['unclear', 'the answers do not show whether it was done again: no id in them, and no mark of a replay']
  }
}

/** What a success means for a different request under a key that is taken. */
const TAKEN: Readonly<Record<Comparison, string>> = {
  same: 'the answer of the first request, so that a client takes for done what was never done',
  different: 'done, under a key that was used before',
  refused: 'not refused',
  unclear: 'not refused, and the answer does not show whether it was done',
}

function judgeOtherBody(evidence: Evidence, first: Answer, other: Seen): Judged {
  if (!isAnswer(other)) return ['unclear', `no answer (${other.fault})`]
  const { status } = other
  if (status === 422) return ['pass', 'refused with 422']
  if (isSuccess(other)) return ['fail', `answered ${status}: ${TAKEN[compareEffects(evidence, first, other)]}`]
  if (status < 400 || status >= 500 || [401, 403, 429].includes(status)) return ['unclear', `answered ${status}`]
  return ['pass', `refused with ${status}, where the draft says 422 (or the changed body is wrong: see --other-body)`]
}

interface Facts {
  readonly evidence: Evidence
  /** Does the server mark replays? */
  readonly marks: boolean
}

function judgeAtOnce({ evidence, marks }: Facts, { atOnce, afterwards }: Observations): Judged {
  const fresh = [...atOnce, afterwards].filter(isAnswer).filter((answer) => isSuccess(answer) && !isMarked(answer))
  const told = statusesText(atOnce)
  const { effects, unclear } = distinctEffects(evidence, fresh)
  if (effects === 0) return ['unclear', `none of them succeeded: ${told}`]
  if (effects > 1) return ['fail', `done ${effects} times: ${told}`]
  if (unclear > 0 && marks)
    return ['fail', `done ${unclear + 1} times: ${told}, and none of these is marked as a replay`]
  return unclear > 0
    ? ['unclear', `the answers do not show how often it was done: ${told}`]
    : ['pass', `done once: ${told}`]
}

function distinctEffects(evidence: Evidence, answers: readonly Answer[]): { effects: number; unclear: number } {
  const known: Answer[] = []
  let unclear = 0
  for (const answer of answers) {
    const compared = known.map((one) => compareEffects(evidence, one, answer))
    if (compared.every((comparison) => comparison === 'different')) known.push(answer)
    else if (!compared.includes('same')) unclear++
  }
  return { effects: known.length, unclear }
}

function judgeLost({ evidence, marks }: Facts, [retry, again]: Observations['lost']): Judged {
  if (!isAnswer(retry) || !isSuccess(retry)) return ['unclear', `the retry ended with ${statusesText([retry])}`]
  if (isMarked(retry)) return ['pass', 'the retry got the answer that was lost']
  const compared = isAnswer(again) ? compareEffects(evidence, retry, again) : 'unclear'
  if (compared === 'different') return ['fail', 'each retry was done again']
  if (marks) return ['unclear', 'the retry was no replay: the lost request was given up, or it was done twice']
  if (compared !== 'same') return ['unclear', 'the answers do not show how often it was done']
  return ['pass', 'two retries got one answer; whether the lost request was done as well, a probe cannot see']
}

function judgeKeyless(seen: Seen): Judged {
  if (!isAnswer(seen)) return ['unclear', `no answer (${seen.fault})`]
  if (seen.status === 400) return ['pass', 'refused with 400: a key is required']
  return isSuccess(seen)
    ? ['pass', `answered ${seen.status}: a key is optional`]
    : ['unclear', `answered ${seen.status}`]
}

function isMarked(seen: Seen): boolean {
  return isAnswer(seen) && isReplayed(seen.headers)
}

function placesText({ places }: Evidence): string {
  return places
    .slice(0, 2)
    .map((place) => `\`${place.replace(/^@/, '')}\``)
    .join(' and ')
}

/** `201, 9 × 409`. */
function statusesText(seen: readonly Seen[]): string {
  const words = seen.map((one) => (isAnswer(one) ? String(one.status) : one.fault))
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, count]) => (count === 1 ? word : `${count} × ${word}`)).join(', ')
}
