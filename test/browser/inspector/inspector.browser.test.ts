import { beforeAll, describe, expect, it } from 'vitest'
import { launch, type TestBrowser } from '../support/launch.ts'
import { crowdedInspector } from './crowd.ts'
import { column, go, type InspectedPage, inspectShop, openInspector } from './inspected-page.ts'

const BREAKER = '8e3f0a7b-1d22-4c1f-9b66-0f2a7e4b6e66'
const FAILED = '3a1d8a35-64e1-4b0c-8f3c-7b7f3f1f2a22'
const SUCCEEDED = '9f4a1b8c-7e33-4d2a-8c55-1a3b8f5c7f77'

/** One page for all of them, each of which begins at an address of its own. */
let shop: InspectedPage
let browser: TestBrowser

beforeAll(async () => {
  browser = await launch()
  shop = await inspectShop(browser)
})

describe('the list of the inspector', () => {
  it('shows operations newest first, and only those of a state, an age or a name', async () => {
    const { page } = shop
    await go(page, '#/operations', '.rows')
    const states = ['In flight', 'Succeeded', 'Succeeded', 'Pending', 'Cancelled', 'Rejected', 'Pending', 'Failed']
    await expect.poll(() => column(page, '.state')).toEqual([...states, 'Expired'])
    await page.getByRole('link', { name: 'Pending 3' }).click()
    await expect.poll(() => column(page, '.state')).toEqual(['In flight', 'Pending', 'Pending'])
    await page.getByLabel('Age', { exact: true }).selectOption('Older than an hour')
    await expect.poll(() => column(page, '.first .sub')).toEqual(['waits for credentials, last 401'])
    await page.getByLabel('Name, id, key or URL').fill('REFUND')
    await page.getByText('No operation matches.').waitFor()
    await page.getByRole('link', { name: 'All' }).click()
    await expect.poll(() => column(page, '.state')).toEqual(['Failed'])
    await page.goBack()
    await page.getByText('No operation matches.').waitFor()
  })

  it('shows what each origin holds back, and why', async () => {
    const { page } = shop
    await page.getByRole('link', { name: 'Origins' }).click()
    const row = page.getByRole('row', { name: /mail\.example\.net/ })
    await expect.poll(() => row.textContent()).toMatch(/Open.*breaker open, failing since \d{4}-.*Z/)
    expect(await row.getByRole('meter').getAttribute('max')).toBe('10')
  })
})

describe('an operation in the inspector', () => {
  it('has its attempts on a time line', async () => {
    const { page } = shop
    await go(page, `#/operations?open=${SUCCEEDED}`, '.attempts')
    await page.getByRole('heading', { name: '3 attempts in 7 s' }).waitFor()
    const rows = await page.locator('.attempts tbody tr').allInnerTexts()
    expect(rows.map((text) => text.trim().split(/\s*\t\s*/))).toEqual([
      ['1', '18 ms', '1.2 s', '503'],
      ['2', '1.9 s', '2.3 s', 'ECONNRESET'],
      ['3', '6.4 s', '640 ms', '201'],
    ])
    const bars = page.locator('.attempts rect')
    const starts = await bars.evaluateAll((all) =>
      all.map((bar) => Math.round(Number.parseFloat(bar.getAttribute('x') ?? ''))),
    )
    expect(starts).toEqual([0, 27, 91])
  })

  it('shows a body when asked, and never what is secret in it', async () => {
    const { page } = shop
    await go(page, `#/operations?open=${SUCCEEDED}`, '.detail')
    expect(await page.content()).not.toContain('12900')
    await page.locator('summary', { hasText: 'Request' }).click()
    await page.locator('[data-key=request] button', { hasText: /^Show the body \(\d+ bytes\)$/ }).click()
    await expect.poll(() => page.getByLabel('Body of the request').textContent()).toContain('12900')
    expect(await page.getByText('sent, never stored').count()).toBe(1)
    await page.locator('summary', { hasText: 'Answer' }).click()
    await page.locator('[data-key=answer] button').click()
    await expect.poll(() => page.getByLabel('Body of the answer').textContent()).toContain('"clientSecret": "***"')
    const shown = await page.content()
    for (const secret of ['4242', '"123"', 'tok_hidden', 'cs_hidden', 'Bearer']) expect(shown).not.toContain(secret)
  })

  it('is cancelled after a confirmation, and not without it', async () => {
    const { page, client } = shop
    await go(page, `#/operations?open=${BREAKER}`, '.detail .pending')
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await page.getByRole('button', { name: 'Leave it' }).click()
    expect((await client.operation(BREAKER))?.status).toBe('pending')
    await page.getByRole('button', { name: 'Cancel…' }).click()
    expect(await page.getByRole('dialog').textContent()).toContain('It may have been done already')
    await page.getByRole('button', { name: 'Cancel the operation' }).click()
    await page.getByRole('status').filter({ hasText: 'Cancelled. It is not sent again.' }).waitFor()
    expect((await client.operation(BREAKER))?.status).toBe('cancelled')
    await page.locator('.detail .cancelled').waitFor()
  })

  it('is retried after a confirmation, with its own key', async () => {
    const { page, sent } = shop
    await go(page, `#/operations?open=${FAILED}`, '.detail .failed')
    await page.getByRole('button', { name: 'Retry…' }).click()
    expect(sent).toEqual([])
    await page.getByRole('button', { name: 'Send it now' }).click()
    await page.getByRole('status').filter({ hasText: 'Done: the server answered 201.' }).waitFor()
    expect(sent).toEqual([`POST /refunds ${FAILED}`])
    await page.locator('.detail .succeeded').waitFor()
  })

  it('is resumed with all that are pending, and what comes meanwhile appears without a reload', async () => {
    const { page, client, sent } = shop
    await go(page, `#/operations?open=${SUCCEEDED}`, '.detail .succeeded')
    await page.locator('summary', { hasText: 'Metadata' }).click()
    await client.post('/late', { json: {}, id: 'late' })
    await page.getByRole('button', { name: 'Resume…' }).click()
    await page.getByRole('button', { name: 'Resume', exact: true }).click()
    await page.getByText(/^Resumed \d+/).waitFor()
    await page.getByRole('link', { name: 'POST /late' }).waitFor()
    // The circuit breaker of their origin is open, and its next probe is not due.
    expect(sent.filter((request) => request.startsWith('POST /messages'))).toEqual([])
    // What was unfolded stays so.
    expect(await page.locator('details[open]').count()).toBe(1)
  })
})

describe('an entry of the ledger in the inspector', () => {
  it('that is unknown gets the answer that an operator gives it', async () => {
    const { page, ledger } = shop
    await page.getByRole('link', { name: 'Ledger' }).click()
    await page.getByRole('link', { name: 'Unknown 1' }).click()
    await page.getByRole('link', { name: 'POST /transfers' }).click()
    await page.getByRole('button', { name: 'Decide…' }).click()
    await page.getByLabel('It was done: every retry gets this answer').check()
    await page.getByLabel('Status of that answer').fill('201')
    await page.getByLabel('Body of that answer').fill('{"id":"tr_77"}')
    await page.getByRole('button', { name: 'Decide', exact: true }).click()
    await page.getByRole('status').filter({ hasText: 'The answer is recorded.' }).waitFor()
    const { state, answer } = (await ledger.find('shop-7', 'transfer:77')) ?? {}
    expect([state, answer?.status, Buffer.from(answer?.body ?? []).toString()]).toEqual(['done', 201, '{"id":"tr_77"}'])
  })
})

describe('the page of the inspector', () => {
  it('does nothing that its own policy forbids', () => {
    expect(shop.complaints).toEqual([])
  })

  it('keeps its token out of the address, and over a reload', async () => {
    const { page, inspector } = shop
    const token = inspector.url.split('token=')[1] ?? ''
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(page.url()).not.toContain(token)
    await page.reload()
    await page.getByRole('heading', { name: 'Ledger' }).waitFor()
    await page.evaluate(() => sessionStorage.clear())
    await page.reload()
    await page.getByRole('heading', { name: 'The token is missing' }).waitFor()
  })
})

describe('an inspector of a hundred thousand operations', () => {
  it('shows a page at a time, and reads little more than it shows', async () => {
    const { url, rowsRead } = await crowdedInspector(100_000)
    const { page, complaints } = await openInspector(browser, url)
    const rows = page.locator('.rows tbody tr')
    const keys = () => rows.evaluateAll((all) => all.map((row) => row.getAttribute('data-key')))
    await expect.poll(keys).toHaveLength(50)
    expect((await keys())[0]).toBe('key-99999')
    await page.getByRole('link', { name: 'Pending 100+' }).waitFor()
    // The page, the search for the end of the journal, and up to a hundred for each of the six counts.
    expect(rowsRead()).toBeLessThan(1000)

    await page.getByRole('link', { name: 'Older' }).click()
    await expect.poll(async () => (await keys())[0]).toBe('key-99949')
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(1500)

    await go(page, '#/operations?status=failed', '.rows .failed')
    expect(await keys()).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((tens) => `key-${tens * 10_000}`))
    await go(page, '#/operations?text=nowhere', '.empty')
    await page.getByText(/None among the 5,\d{3} records that were looked at/).waitFor()
    await page.getByRole('link', { name: 'Search older' }).waitFor()

    // A name that tries to be markup stays text.
    await go(page, '#/operations', '.rows')
    await expect.poll(async () => (await column(page, 'th .sub'))[0]).toContain('<img src=x onerror=alert(1)>')
    expect(complaints).toEqual([])
  })
})
