import type { World } from './policy.ts'

/** A client lives long after 1970: to it nothing has succeeded for ages, and not two seconds ago. */
const EPOCH_MS = 1_735_732_800_000

export function inOurTime(world: World): World {
  return {
    get now() {
      return world.now + EPOCH_MS
    },
    random: world.random,
    after: (ms, run) => world.after(ms, run),
    send: (operation, ended) => world.send(operation, ended),
    settle: (operation, as) => world.settle(operation, as),
    finish: (operation) => world.finish(operation),
  }
}
