export {
  type Resuming,
  wakeServiceWorker,
  resumeInServiceWorker,
  type ServiceWorkerScope,
} from '../client/coordination/service-worker-resume.ts'
