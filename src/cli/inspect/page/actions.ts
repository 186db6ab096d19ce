import type { Api } from './api.ts'
import { askDecision, confirmCancel, confirmResume, confirmRetry } from './dialogs.ts'
import type { Loaded } from './load-view.ts'

/** Asks first, then makes the change. What it did, in a sentence; undefined where nothing was changed. */
export async function act(name: string, api: Api, { operation, entry }: Loaded): Promise<string | undefined> {
  if (name === 'resume' && (await confirmResume())) return api.change('resume', {})
  if (name === 'cancel' && operation && (await confirmCancel(operation))) {
    return api.change('cancel', { key: operation.key })
  }
  if (name === 'retry' && operation && (await confirmRetry(operation))) {
    return api.change('retry', { key: operation.key })
  }
  if (name === 'resolve' && entry) {
    const { scope, key } = entry
    const resolution = await askDecision(entry)
    return resolution && api.change('resolve', { scope, key, resolution })
  }
  return undefined
}
