import { startTimer, systemClock } from '../../../foundation/clock.ts'
import type { ShownBody } from '../wire.ts'
import { act } from './actions.ts'
import { Api, TokenError } from './api.ts'
import { h, morph } from './dom.ts'
import { plural } from './format.ts'
import { type Loaded, loadView } from './load-view.ts'
import { pageView, problemView, viewLinks } from './page-view.ts'
import { linkTo, parameter, parseRoute, type Route } from './route.ts'
import { announce, part, setLive } from './shell.ts'

/** How often what is shown is asked for again. */
const EVERY_MS = 2000
/** How long a reader may type before the list follows. */
const TYPING_MS = 250

/** The page: asks for what its address names, shows it, and keeps it up to date. */
class Page {
  readonly #api = new Api()
  /** Bodies that were asked for, of what is open. */
  readonly #bodies = new Map<string, ShownBody>()
  #loaded: Loaded | undefined
  #isPaused = false
  /** Grows with every navigation: an answer to an older question is not shown. */
  #turn = 0
  #stopPoll = (): void => {}
  #stopTyping = (): void => {}

  start(): void {
    addEventListener('hashchange', () => void this.#navigate())
    addEventListener('visibilitychange', () => void this.#refresh())
    addEventListener('click', (event) => this.#onClick(event))
    addEventListener('input', (event) => this.#onInput(event))
    addEventListener('submit', (event) => {
      if (event.target instanceof Element && event.target.matches('.filters')) event.preventDefault()
    })
    addEventListener('keydown', (event) => this.#onKey(event))
    void this.#navigate()
  }

  get #route(): Route {
    return parseRoute(location.hash) ?? this.#home
  }

  /** Where there is no client, its ledger. */
  get #home(): Route {
    const view = this.#loaded && !this.#loaded.overview.operations ? 'ledger' : 'operations'
    return { view, query: new URLSearchParams() }
  }

  async #navigate(): Promise<void> {
    this.#turn++
    const before = this.#loaded?.route
    const route = this.#route
    if (before && openOf(before) !== openOf(route)) this.#bodies.clear()
    await this.#refresh()
    if (this.#loaded?.route.view !== route.view) return
    syncFilters(route)
    moveFocus(before, route)
    if (before) announceList(this.#loaded)
  }

  async #refresh(): Promise<void> {
    this.#stopPoll()
    const turn = this.#turn
    if (document.visibilityState === 'hidden') return
    try {
      const loaded = await loadView(this.#api, this.#route)
      if (turn !== this.#turn) return
      this.#loaded = loaded
      if (!loaded.overview.operations && loaded.route.view !== 'ledger') return void location.replace('#/ledger')
      this.#render()
      setLive(this.#isPaused ? 'paused' : 'live')
    } catch (error) {
      if (turn === this.#turn) this.#showProblem(error)
    }
    if (!this.#isPaused) this.#stopPoll = startTimer(systemClock, EVERY_MS, () => void this.#refresh())
  }

  #render(): void {
    if (!this.#loaded) return
    const { route, overview } = this.#loaded
    morph(part('views'), viewLinks(overview, route))
    const bodyOf = (of: string): ShownBody | undefined => this.#bodies.get(of)
    const main = part('main')
    morph(main, h('main', { id: 'main', tabindex: '-1' }, pageView(this.#loaded, { now: this.#api.now(), bodyOf })))
    document.title = `${main.querySelector('.title')?.textContent ?? ''} · Holdfast inspector`
  }

  /** What was shown stays while the server does not answer. */
  #showProblem(error: unknown): void {
    const hasToken = this.#api.hasToken && !(error instanceof TokenError)
    setLive('lost')
    if (hasToken && this.#loaded) return
    const text = hasToken
      ? 'It is tried again every two seconds.'
      : 'Open the address that the inspector printed when it started: its token is in it, and is good until the inspector ends.'
    const view = problemView(hasToken ? 'The inspector does not answer' : 'The token is missing', text)
    morph(part('main'), h('main', { id: 'main', tabindex: '-1' }, view))
  }

  #onClick(event: Event): void {
    const target = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-action]') : null
    if (!target) return
    const { action = '', part: of = '' } = target.dataset
    if (action === 'skip') part('main').focus()
    else if (action === 'pause') this.#pause()
    else if (action === 'show-body') void this.#showBody(of)
    else void this.#change(action)
  }

  #pause(): void {
    this.#isPaused = !this.#isPaused
    setLive(this.#isPaused ? 'paused' : 'live')
    void this.#refresh()
  }

  async #showBody(of: string): Promise<void> {
    const { entry, operation } = this.#loaded ?? {}
    const path = entry ? 'entry-body' : 'operation-body'
    const { key = '', scope = '' } = entry ?? { key: operation?.key ?? '' }
    try {
      const body = await this.#api.get<ShownBody>(path, { key, scope, part: of })
      if (body) this.#bodies.set(of, body)
      this.#render()
      document.querySelector<HTMLElement>(`[data-key="${of}"] .body`)?.focus()
    } catch (error) {
      announce(messageOf(error))
    }
  }

  async #change(action: string): Promise<void> {
    if (!this.#loaded) return
    try {
      const message = await act(action, this.#api, this.#loaded)
      if (message !== undefined) announce(message)
    } catch (error) {
      announce(messageOf(error))
    }
    await this.#refresh()
  }

  #onInput(event: Event): void {
    const field = event.target
    if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement) || !field.form?.matches('.filters'))
      return
    this.#stopTyping()
    const follow = (): void => {
      const fresh = { before: undefined, afterScope: undefined, afterKey: undefined, afterAt: undefined }
      location.replace(linkTo(this.#route, { ...fresh, [field.name]: field.value.trim() }))
    }
    this.#stopTyping = startTimer(systemClock, TYPING_MS, follow)
  }

  #onKey(event: KeyboardEvent): void {
    const isElsewhere = event.target instanceof Element && event.target.closest('dialog, input, select') !== null
    if (event.key !== 'Escape' || isElsewhere || openOf(this.#route) === '') return
    location.hash = linkTo(this.#route, { open: undefined, openScope: undefined })
  }
}

function openOf(route: Route): string {
  return `${parameter(route, 'openScope')}${parameter(route, 'open')}`
}

/** Into what was opened; back to its row when it is closed. */
function moveFocus(before: Route | undefined, now: Route): void {
  if (openOf(now) === (before ? openOf(before) : '')) return
  if (parameter(now, 'open') !== '') return void document.getElementById('detail-title')?.focus()
  const key =
    before && [parameter(before, 'openScope'), parameter(before, 'open')].filter((text) => text !== '').join(' ')
  const row = [...document.querySelectorAll<HTMLElement>('tr[data-key]')].find(({ dataset }) => dataset.key === key)
  row?.querySelector<HTMLElement>('a')?.focus()
}

/** After a step back in the browser the fields show what is filtered by. */
function syncFilters(route: Route): void {
  for (const field of document.querySelectorAll<HTMLInputElement | HTMLSelectElement>('.filters [name]')) {
    if (field !== document.activeElement) field.value = parameter(route, field.name)
  }
}

/** For a screen reader, after a reader's own step only: what comes by itself is not read out. */
function announceList({ operations, entries }: Loaded): void {
  const rows = operations?.rows ?? entries?.rows
  if (rows) announce(`${plural(rows.length, 'row')} shown`, 'unseen')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

new Page().start()
