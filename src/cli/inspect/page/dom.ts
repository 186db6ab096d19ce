export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>
export type Child = Node | string | number | undefined | false

/** An element. What it shows is always text: there is no way from a string to markup. */
export function h(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): HTMLElement {
  return filled(document.createElement(tag), attributes, children)
}

/** The same for drawings. */
export function svg(tag: string, attributes: Attributes = {}, ...children: readonly Child[]): SVGElement {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children)
}

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : String(value))
  }
  for (const child of children) if (child !== undefined && child !== false) element.append(asNode(child))
  return element
}

function asNode(child: Node | string | number): Node | string {
  return typeof child === 'number' ? String(child) : child
}

/**
 * Makes `live` look like `fresh`, and keeps every element that can stay: focus, scroll positions and what was unfolded
 * survive an update. Children with a `data-key` are matched by it, others by their order.
 */
export function morph(live: Element, fresh: Element): void {
  syncAttributes(live, fresh)
  let cursor: ChildNode | null = live.firstChild
  for (const child of [...fresh.childNodes]) {
    const match = matchOf(live, cursor, child)
    if (!match) {
      live.insertBefore(child, cursor)
      continue
    }
    if (match !== cursor) live.insertBefore(match, cursor)
    cursor = match.nextSibling
    update(match, child)
  }
  while (cursor) {
    const next: ChildNode | null = cursor.nextSibling
    cursor.remove()
    cursor = next
  }
}

function update(live: ChildNode, fresh: ChildNode): void {
  if (live instanceof Element && fresh instanceof Element) morph(live, fresh)
  else if (live.textContent !== fresh.textContent) live.textContent = fresh.textContent
}

function matchOf(parent: Element, cursor: ChildNode | null, fresh: ChildNode): ChildNode | undefined {
  const key = keyOf(fresh)
  if (key === undefined) return cursor && isAlike(cursor, fresh) ? cursor : undefined
  // Mostly it is the next one; else it has moved.
  if (cursor && keyOf(cursor) === key) return cursor
  return [...parent.children].find((child) => keyOf(child) === key)
}

function isAlike(live: ChildNode, fresh: ChildNode): boolean {
  return live.nodeName === fresh.nodeName && keyOf(live) === undefined
}

function keyOf(node: ChildNode): string | undefined {
  return node instanceof HTMLElement ? node.dataset.key : undefined
}

function syncAttributes(live: Element, fresh: Element): void {
  for (const { name, value } of [...fresh.attributes]) {
    if (live.getAttribute(name) !== value) live.setAttribute(name, value)
  }
  for (const { name } of [...live.attributes]) {
    // Whether something is unfolded is up to the reader.
    if (!fresh.hasAttribute(name) && !(name === 'open' && live instanceof HTMLDetailsElement))
      live.removeAttribute(name)
  }
}
