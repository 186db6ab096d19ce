import { startTimer, systemClock } from '../../../foundation/clock.ts'

/* The parts of the page that are always there. */

const SHOWN_MS = 8000

let stopHiding = (): void => {}

/** A part of the page by its id, which page.html has. */
export function part(id: 'views' | 'main' | 'live' | 'status'): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`page.html has no #${id}`)
  return found
}

/** Says what has changed: read out politely, and shown for a while unless the list shows it already. */
export function announce(text: string, way: 'shown' | 'unseen' = 'shown'): void {
  const status = part('status')
  status.textContent = text
  status.dataset.way = way
  stopHiding()
  stopHiding = startTimer(systemClock, SHOWN_MS, () => {
    status.textContent = ''
  })
}

const LABELS = { live: 'Live', paused: 'Paused', lost: 'No answer' }

/** Is the page up to date? */
export function setLive(state: keyof typeof LABELS): void {
  const live = part('live')
  if (live.dataset.state === state) return
  live.dataset.state = state
  live.textContent = LABELS[state]
  live.setAttribute('aria-pressed', String(state !== 'paused'))
}
