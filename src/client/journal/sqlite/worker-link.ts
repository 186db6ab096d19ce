import { Worker } from 'node:worker_threads'
import { StorageError } from '../../../errors/classes.ts'
import type { PlainFailure, WorkerAnswer, WorkerRequest, WorkerSettings } from './sqlite-worker.ts'
import { source } from './sqlite-worker.ts?source'

interface Waiting {
  resolve(answer: WorkerAnswer): void
  reject(error: StorageError): void
}

/**
 * One worker thread. It keeps the process alive exactly as long as a request is unanswered: a program ends although
 * the thread idles, and never in the middle of a batch.
 */
export class WorkerLink {
  readonly #worker: Worker
  readonly #waiting: Waiting[] = []
  readonly #path: string
  readonly #exited: Promise<void>
  #cause: unknown
  #isEnding = false
  isDead = false

  constructor(settings: WorkerSettings) {
    this.#path = settings.path
    // Without the main thread's loaders and flags: the source is plain JavaScript.
    const execArgv = ['--no-warnings']
    this.#worker = new Worker(source, { eval: true, workerData: settings, execArgv, name: 'holdfast-journal' })
    this.#worker.unref()
    this.#worker.on('message', (answer: WorkerAnswer) => this.#receive(answer))
    this.#worker.on('error', (error) => this.#markDead(error))
    // An answer that cannot be read would otherwise never come.
    this.#worker.on('messageerror', () => void this.terminate())
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#markDead(undefined)
        resolve()
      })
    })
  }

  ask(request: WorkerRequest): Promise<WorkerAnswer> {
    return new Promise((resolve, reject) => {
      if (this.isDead) return reject(this.#died())
      try {
        this.#worker.postMessage(request)
      } catch (cause) {
        return reject(
          new StorageError('The journal was given something that cannot be stored', { cause, effect: 'none' }),
        )
      }
      this.#waiting.push({ resolve, reject })
      this.#worker.ref()
    })
  }

  /** Closes the file in good order. Keeps the process alive until the thread has ended, for the caller that awaits it. */
  async close(): Promise<void> {
    this.#isEnding = true
    try {
      await this.ask({ ask: 'close' })
    } catch (error) {
      // A worker that is dead has nothing left to close.
      if (!this.isDead) throw error
    } finally {
      // From here, since a worker of Deno cannot close its own port.
      await this.terminate()
      await this.#exited
    }
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }

  #receive(answer: WorkerAnswer): void {
    const waiting = this.#waiting.shift()
    if (this.#waiting.length === 0 && !this.#isEnding) this.#worker.unref()
    if ('failure' in answer) waiting?.reject(revivedFailure(answer.failure))
    else waiting?.resolve(answer)
  }

  #markDead(error: unknown): void {
    this.isDead = true
    this.#cause ??= error
    for (const { reject } of this.#waiting.splice(0)) reject(this.#died())
  }

  /** A worker that died may have committed its batch or not. */
  #died(): StorageError {
    const message = `The worker thread of the journal ${this.#path} died; what it was doing may or may not be on disk`
    return new StorageError(message, { effect: 'unknown', cause: this.#cause })
  }
}

function revivedFailure({ message, effect, cause }: PlainFailure): StorageError {
  if (!cause) return new StorageError(message, { effect })
  const revived = Object.assign(new Error(cause.message), { name: cause.name, code: cause.code })
  return new StorageError(message, { effect, cause: revived })
}
