import type { Plugin } from 'esbuild'

/** The libraries of the command line are in the file beside it. */
export function externalLibraries(): Plugin {
  return {
    name: 'external-libraries',
    setup(bundler) {
      bundler.onResolve({ filter: /\/libraries\.ts$/ }, ({ kind }) =>
        kind === 'entry-point' ? undefined : { path: './libraries.cjs', external: true },
      )
    },
  }
}
