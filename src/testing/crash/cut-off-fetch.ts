import type { FetchLike } from '../../client/options.ts'
import { abortReason, onAbort } from '../../foundation/abort.ts'
import { type Fuse, never } from './fuse.ts'

/** The network as the client has it: what has left goes on to the server, and no answer arrives any more. */
export function cutOffFetch(fetch: FetchLike, fuse: Fuse): FetchLike {
  return async (input, init) => {
    if (fuse.reached || fuse.pass('send:leaving')) return never()
    try {
      const sent = fetch(input, { ...init, signal: untilTheEnd(init?.signal, fuse) })
      fuse.pass('send:travelling')
      const response = await sent
      if (!fuse.reached && !fuse.pass('send:answered')) return response
      // It will not be read; the connection would stay open for its body.
      response.body?.cancel().catch(() => {})
    } catch (error) {
      if (!fuse.reached) throw error
    }
    return never()
  }
}

/** What leaves a process is not called back by its end: the signal counts only until then. */
function untilTheEnd(signal: AbortSignal | null | undefined, fuse: Fuse): AbortSignal {
  const controller = new AbortController()
  if (signal) onAbort(signal, () => fuse.reached || controller.abort(abortReason(signal)))
  return controller.signal
}
