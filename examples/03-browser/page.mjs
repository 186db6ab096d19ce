// Everything that is seen: the counter, the switches, the time lines, the ledger. What it is about is in shop.mjs.
import { lifeOf } from './life.mjs'
import { cutNetwork, outsideFetch, restoreNetwork } from './network.mjs'
import { openShop } from './shop.mjs'
import { nameThisTab, Story } from './story.mjs'
import { Card, element } from './timeline.mjs'

const SHOWN = 40
const HINTS = {
  healthy: 'Takes every order and says so.',
  flaky: 'Answers 503, or takes the order and loses the answer.',
  down: 'Drops every connection.',
}

const api = document.querySelector('meta[name="shop-api"]').content
const $ = (id) => document.getElementById(id)
const tab = nameThisTab()
const story = new Story(tab)
const found = new Map()
const cards = new Map()
const mine = new Set()
let reloadAt

const shop = openShop({
  api,
  observe,
  onSettled,
  onTrouble: (error) => say(`Nothing can be kept here: ${error.message}`),
})

function observe(event) {
  if (event.type === 'breaker.changed') say(`The breaker is now ${event.to}.`)
  if (!event.operation) return
  const { key } = event.operation
  const { type, at, level, attempt, until, reason, status, replayed, attempts } = event
  const offline = !navigator.onLine
  story.tell(key, { type, at, level, attempt, until, reason, status, replayed, attempts, offline })
  if (type === 'attempt.started' || type === 'operation.resumed') mine.add(key)
  if (type === 'operation.settled' || type === 'lease.lost') mine.delete(key)
  if (type === 'attempt.started' && key === reloadAt) setTimeout(() => location.reload(), 250)
}

function onSettled({ operation, status }) {
  const { product, order } = operation.metadata
  const attempts = operation.attempts === 1 ? 'one attempt' : `${operation.attempts} attempts`
  say(`${product}, order ${order}: ${status} after ${attempts}.`)
}

function say(words) {
  $('news').textContent = words
}

function place(product) {
  const order = crypto.randomUUID().slice(0, 6).toUpperCase()
  const call = shop.place({ order, product })
  mine.add(call.key)
  story.tell(call.key, { type: 'order.placed', at: Date.now(), order, product })
  say(`${product}, order ${order}: placed.`)
  call.catch((error) => {
    if (!error.pending) say(`${product}, order ${order}: ${error.message}`)
  })
  return call.key
}

// Orders

function draw(key) {
  const life = lifeOf(key, story.of(key), found.get(key))
  let card = cards.get(key)
  if (!card) {
    card = new Card()
    cards.set(key, card)
    const next = [...$('list').children].find(({ dataset }) => Number(dataset.at) < life.startedAt)
    card.node.dataset.at = life.startedAt
    $('list').insertBefore(card.node, next ?? null)
    if ($('list').children.length > SHOWN) $('list').lastElementChild.remove()
  }
  card.isOpen = life.isOpen
  card.draw(life, Date.now())
}

function count() {
  const open = [...cards.values()].filter(({ isOpen }) => isOpen).length
  $('empty').hidden = cards.size > 0
  $('orders-count').textContent =
    cards.size === 0 ? '' : open > 0 ? `${open} pending of ${cards.size}` : `${cards.size}, all done`
}

/** Only what has changed or goes on is drawn again. */
const changed = new Set(story.keys)
story.onChange((key) => changed.add(key))
function drawChanged() {
  const open = [...cards].filter(([, { isOpen }]) => isOpen).map(([key]) => key)
  for (const key of new Set([...changed, ...open])) draw(key)
  changed.clear()
  count()
}

/** The journal knows what no tab could tell any more. */
async function compareWithJournal() {
  for await (const operation of shop.orders()) {
    found.set(operation.key, operation)
    changed.add(operation.key)
  }
}

// The server's ledger

async function showLedger() {
  const { mode, taken, requests } = await (await outsideFetch(`${api}/ledger`)).json()
  $('switch').querySelector(`[value=${mode}]`).checked = true
  $('mode-hint').textContent = HINTS[mode]
  const orders = new Map(taken.map((one) => [one.order, one]))
  const rows = [...orders.values()].reverse().map(({ key, order, product }) => {
    const times = taken.filter((one) => one.order === order).length
    const asked = requests.filter((one) => one.key === key).length
    const title = element('th', { scope: 'row' }, product, ' ', element('span', { class: 'code' }, order))
    const cells = [element('code', {}, key.slice(0, 8)), asked, `${times} ×`].map((value) => element('td', {}, value))
    const row = element('tr', { 'data-order': order, 'data-taken': times, 'data-requests': asked }, title, ...cells)
    return row
  })
  $('ledger').replaceChildren(...rows)
  const twice = taken.length - orders.size
  $('verdict').textContent =
    taken.length === 0 ? 'No order taken yet.' : `${orders.size} taken, ${twice} twice, in ${requests.length} requests.`
  $('verdict').classList.toggle('alarm', twice > 0)
}

async function keepLedgerShown() {
  for (;;) {
    await showLedger().catch(() => {
      $('verdict').textContent = 'The server cannot be asked just now.'
    })
    await new Promise((resolve) => setTimeout(resolve, 700))
  }
}

// Controls

$('products').addEventListener('click', ({ target }) => {
  const button = target.closest('[data-product]')
  if (button) place(button.dataset.product)
})

$('switch').addEventListener('change', async ({ target }) => {
  const body = JSON.stringify({ mode: target.value })
  const headers = { 'content-type': 'application/json' }
  await outsideFetch(`${api}/switch`, { method: 'PUT', headers, body }).catch(() => say('The server cannot be asked.'))
  await showLedger().catch(() => {})
})

$('offline').addEventListener('click', () => {
  const isCut = $('offline').classList.toggle('is-cut')
  $('offline').textContent = isCut ? 'Go online again' : 'Go offline'
  if (isCut) cutNetwork()
  else restoreNetwork()
})

$('reload').addEventListener('click', () => {
  reloadAt = place('Green tea')
})

function showNetwork() {
  $('network').textContent = navigator.onLine ? 'online' : 'offline'
  $('network').classList.toggle('is-offline', !navigator.onLine)
}

for (const event of ['online', 'offline']) addEventListener(event, showNetwork)
addEventListener('pagehide', () => {
  for (const key of mine) story.tell(key, { type: 'tab.left', at: Date.now() })
})

$('tab-name').textContent = `This is ${tab}`
showNetwork()
await compareWithJournal().catch(() => {})
drawChanged()
setInterval(drawChanged, 150)
setInterval(() => compareWithJournal().catch(() => {}), 2_000)
await keepLedgerShown()
