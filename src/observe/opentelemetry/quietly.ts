import { diag } from '@opentelemetry/api'

/** What `work` returns. Undefined where it throws: an exporter, sampler or propagator that fails must not break a call. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    diag.error('holdfast: telemetry failed', error)
    return undefined
  }
}
