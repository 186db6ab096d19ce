import type { EntryDetail, OperationDetail } from '../wire.ts'
import { type Child, h } from './dom.ts'

/** What a dialog asks, and what each of its answers means. */
interface Question {
  readonly title: string
  readonly text: string
  readonly confirm: string
  readonly refuse: string
  readonly isDangerous?: boolean
  readonly fields?: readonly Child[]
}

/** The form's fields where it was confirmed; undefined where it was not. Focus goes back to where it was. */
function ask({
  title,
  text,
  confirm,
  refuse,
  isDangerous = false,
  fields = [],
}: Question): Promise<FormData | undefined> {
  const dialog = document.getElementById('dialog') as HTMLDialogElement
  const form = h(
    'form',
    { method: 'dialog' },
    h('h2', { id: 'dialog-title' }, title),
    h('p', { id: 'dialog-text' }, text),
    ...fields,
    h(
      'p',
      { class: 'actions' },
      h('button', { value: 'no', formnovalidate: true, autofocus: isDangerous || fields.length === 0 }, refuse),
      h('button', { value: 'yes', class: isDangerous ? 'danger' : 'primary' }, confirm),
    ),
  ) as HTMLFormElement
  dialog.replaceChildren(form)
  dialog.returnValue = ''
  dialog.showModal()
  return new Promise((resolve) => {
    const onClose = (): void => resolve(dialog.returnValue === 'yes' ? new FormData(form) : undefined)
    dialog.addEventListener('close', onClose, { once: true })
  })
}

export async function confirmCancel({ method, url, status, effect }: OperationDetail): Promise<boolean> {
  const what = `${method} ${new URL(url).pathname}`
  const isPending = status === 'pending'
  const done =
    effect === 'none' ? 'It was not done so far.' : 'It may have been done already: cancelling does not undo it.'
  const answer = await ask({
    title: isPending ? 'Cancel this operation?' : 'Free its lane?',
    text: isPending
      ? `${what} is not sent again by any process. ${done}`
      : `${what} stays as it is, and the operations behind it in its lane go on.`,
    confirm: isPending ? 'Cancel the operation' : 'Free the lane',
    refuse: 'Leave it',
    isDangerous: true,
  })
  return answer !== undefined
}

export async function confirmRetry({ method, url, key }: OperationDetail): Promise<boolean> {
  const answer = await ask({
    title: 'Retry this operation?',
    text: `${method} ${new URL(url).pathname} is sent now, with the same bytes and the key ${key}. If its attempts fail, it ends as failed.`,
    confirm: 'Send it now',
    refuse: 'Leave it',
  })
  return answer !== undefined
}

export async function confirmResume(): Promise<boolean> {
  const answer = await ask({
    title: 'Resume pending operations?',
    text: 'Every pending operation whose runner is gone is sent again, with its own key and bytes, at the pace that its server can take.',
    confirm: 'Resume',
    refuse: 'Leave them',
  })
  return answer !== undefined
}

/** What an operator says of an entry that is unknown. */
export type Decision = 'rerun' | { readonly status: number; readonly body: string }

export async function askDecision({ method, path }: EntryDetail): Promise<Decision | undefined> {
  const form = await ask({
    title: 'What became of it?',
    text: `Find out first whether the effect of ${method} ${path} has happened. This cannot be taken back.`,
    confirm: 'Decide',
    refuse: 'Not now',
    isDangerous: true,
    fields: [
      h(
        'fieldset',
        {},
        h('legend', { class: 'unseen' }, 'Decision'),
        h(
          'label',
          { class: 'choice' },
          h('input', { type: 'radio', name: 'outcome', value: 'rerun', required: true }),
          'It was not done: the next request with its key runs',
        ),
        h(
          'label',
          { class: 'choice' },
          h('input', { type: 'radio', name: 'outcome', value: 'answer' }),
          'It was done: every retry gets this answer',
        ),
      ),
      h(
        'label',
        { class: 'field' },
        h('span', {}, 'Status of that answer'),
        h('input', { name: 'status', type: 'number', min: 200, max: 499, value: 200 }),
      ),
      h(
        'label',
        { class: 'field' },
        h('span', {}, 'Body of that answer'),
        h('textarea', { name: 'body', rows: 3, spellcheck: 'false' }),
      ),
    ],
  })
  if (!form) return undefined
  if (form.get('outcome') === 'rerun') return 'rerun'
  return { status: Number(form.get('status')), body: String(form.get('body')) }
}
