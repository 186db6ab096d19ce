export {
  type Resuming,
  resumeInServiceWorker,
  type ServiceWorkerScope,
} from '../client/coordination/resume-in-service-worker.ts'
export { wakeServiceWorker } from '../client/coordination/wake-service-worker.ts'
