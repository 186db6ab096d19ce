/* Pieces of SQL in the body of the journal's function, where `c` is the command and `shift` the difference of the clocks. */

/** A time of the command on the database's clock. */
export function moved(field: string): string {
  return movedTime(`(c->>'${field}')::bigint`)
}

export function movedTime(time: string): string {
  return `coalesce(nullif(${time}, 0) + shift, 0)`
}

export function movedBack(column: string): string {
  return `coalesce(nullif(${column}, 0) - shift, 0)`
}

/** The row `o` without its bodies, in the words of the port, as text: no jsonb is made of it, which would cost twice as much. */
export function rowOf(o: string, more = ''): string {
  return `json_build_object('place', ${o}.place, 'version', ${o}.version, 'namespace', ${o}.namespace,
        'key', ${o}.key, 'id', ${o}.id, 'name', ${o}.name, 'lane', ${o}.lane, 'origin', ${o}.origin, 'status', ${o}.status,
        'owner', ${o}.owner, 'epoch', ${o}.epoch, 'leaseUntil', ${movedBack(`${o}.lease_until`)},
        'dueAt', ${movedBack(`${o}.due_at`)}, 'notBefore', ${movedBack(`${o}.not_before`)},
        'laneUntil', ${o}.lane_until - shift, 'deliveryDue', ${o}.delivery_due, 'expiresAt', ${o}.expires_at - shift,
        'head', ${o}.head${more && `, ${more}`})::text`
}

export function texts(field: string): string {
  return `ARRAY(SELECT jsonb_array_elements_text(c->'${field}'))`
}
