import type { Allowance, Gate } from './retrying-client.ts'

/** The AWS SDK's bucket: a retry costs, a success pays the last retry's cost back, or one token. Time brings nothing. */
export function awsBucket({ cost }: { readonly cost: number }): () => Allowance {
  return () => {
    const capacity = 500
    let tokens = capacity
    return {
      mayRetry: () => {
        if (tokens < cost) return false
        tokens -= cost
        return true
      },
      succeeded: (after) => {
        tokens = Math.min(capacity, tokens + (after === 'retry' ? cost : 1))
      },
    }
  }
}

/** gRPC's throttle: a failure takes one of ten tokens, a success brings a tenth; retries only above half. */
export function grpcThrottle(): Allowance {
  const most = 10
  let tokens = most
  return {
    failed: () => {
      tokens = Math.max(0, tokens - 1)
    },
    mayRetry: () => tokens > most / 2,
    succeeded: () => {
      tokens = Math.min(most, tokens + 0.1)
    },
  }
}

/** A breaker that opens after so many failures in a row and lets one request through after a while. */
export function consecutiveBreaker({
  failures,
  halfOpenAfterMs,
}: {
  readonly failures: number
  readonly halfOpenAfterMs: number
}): () => Gate {
  return () => {
    let phase: 'closed' | 'open' | 'half-open' = 'closed'
    let inARow = 0
    let openUntil = 0
    return {
      admits: (now) => {
        if (phase === 'open' && now >= openUntil) phase = 'half-open'
        else if (phase !== 'closed') return false
        return true
      },
      learn: (end, now) => {
        // What was under way when it opened tells nothing new.
        if (phase === 'open') return
        inARow = end === 'success' ? 0 : inARow + 1
        phase = inARow >= failures ? 'open' : 'closed'
        if (phase === 'open') openUntil = now + halfOpenAfterMs
      },
    }
  }
}

/** The client-side throttling of the SRE book: refuses by chance once requests exceed `factor` times the accepted ones. */
export function adaptiveThrottle({
  factor,
  forgetMs,
  random,
}: {
  readonly factor: number
  readonly forgetMs: number
  readonly random: () => number
}): () => Gate {
  return () => {
    let requests = 0
    let accepted = 0
    let at = 0
    const fade = (now: number): void => {
      const left = Math.exp((at - now) / forgetMs)
      requests *= left
      accepted *= left
      at = now
    }
    return {
      admits: (now) => {
        fade(now)
        const refuses = random() < (requests - factor * accepted) / (requests + 1)
        requests++
        return !refuses
      },
      learn: (end, now) => {
        fade(now)
        if (end === 'success') accepted++
      },
    }
  }
}
