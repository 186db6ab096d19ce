import type { differences } from '../differences.ts'
import { type Fetch, REQUESTS, type Scene, type Sight } from './scene.ts'
import { answerSight, outcomeInTime } from './sight.ts'

export type Where = 'node' | 'browser' | 'both'

/** A name, and where the case is of a special kind, what is special. */
export interface Label {
  readonly name: string
  readonly where?: Where
  /** By design it is not the same, everywhere or on one platform: which row of the table says why. */
  readonly difference?: DifferenceName | { readonly node?: DifferenceName; readonly browser?: DifferenceName }
}

type DifferenceName = keyof typeof differences

export interface ParityCase extends Label {
  readonly where: Where
  /** Part of what the platform's fetch must show: without it the case would compare nothing. */
  readonly shows: object
  readonly run: (scene: Scene) => Promise<Sight>
}

/** The cases that run on a platform. */
export function casesIn(platform: 'node' | 'browser', cases: readonly ParityCase[]): ParityCase[] {
  return cases.filter(({ where }) => where === platform || where === 'both')
}

/** The row of the table that a case names for a platform. */
export function differenceIn(platform: 'node' | 'browser', { difference }: ParityCase): DifferenceName | undefined {
  if (typeof difference !== 'object') return difference
  return difference[platform]
}

export type FetchArguments = Parameters<Fetch>

/** A case with a course of its own. */
export function play(label: string | Label, shows: object, run: ParityCase['run']): ParityCase {
  return { where: 'both', ...(typeof label === 'string' ? { name: label } : label), shows, run }
}

/** One call, and all that its caller and the server see of it. */
export function call(
  label: string | Label,
  shows: object,
  make: (scene: Scene) => FetchArguments | Promise<FetchArguments>,
): ParityCase {
  return play(label, shows, async (scene) => callSight(scene, await make(scene)))
}

/** Calls fetch and looks at everything around it. */
export async function callSight(scene: Scene, args: FetchArguments): Promise<Record<string, unknown>> {
  // Not as a method: browsers refuse that.
  const { fetch } = scene
  const promise = fetch(...args)
  const atOnce = inputSight(args)
  const outcome = await outcomeInTime(async () => ({ answer: await answerSight(await promise) }))
  const seen = typeof outcome === 'object' ? outcome : { outcome }
  return { ...seen, requests: REQUESTS, atOnce, after: inputSight(args) }
}

/** What has become of the caller's own objects. */
function inputSight([input, init]: FetchArguments): unknown {
  const body = init?.body
  return {
    ...(input instanceof Request && { bodyUsed: input.bodyUsed }),
    ...(body instanceof ReadableStream && { locked: body.locked }),
  }
}
