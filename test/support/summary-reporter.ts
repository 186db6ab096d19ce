import type { Reporter, TestModule } from 'vitest/node'

/** Closes a run with one plain line that people and machines can read, `N passed, N failed`, after what needed a second try. */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0
    let failed = unhandledErrors.length
    const retried: string[] = []
    for (const module of modules) {
      // A file that breaks before its tests are known has no failed test, but it has failed.
      const tests = [...module.children.allTests()]
      passed += tests.filter((test) => test.result().state === 'passed').length
      for (const test of tests) {
        if (test.diagnostic()?.flaky)
          retried.push(`passed at a second try: ${module.relativeModuleId} > ${test.fullName}\n`)
      }
      const failedTests = tests.filter((test) => test.result().state === 'failed').length
      failed += failedTests + (failedTests === 0 && module.state() === 'failed' ? 1 : 0)
    }
    process.on('exit', () => process.stdout.write(`${retried.join('')}${passed} passed, ${failed} failed\n`))
  }
}
