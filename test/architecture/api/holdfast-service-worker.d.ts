// Everything that this door makes public. `npm run api:update` writes it; a change here is a change for users.
export { Resuming, ServiceWorkerScope, resumeInServiceWorker, wakeServiceWorker }

declare function resumeInServiceWorker(client: Resuming, scope?: ServiceWorkerScope): void;

declare function wakeServiceWorker(container?: {
    getRegistration(): Promise<object | undefined>;
} | undefined): Promise<boolean>;

interface Resuming {
    resume(): Promise<{
        readonly pending: number;
    }>;
}

type ServiceWorkerScope = Pick<EventTarget, 'addEventListener'>;
