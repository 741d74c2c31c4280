type Work = () => void;

/** Holds work of a stream, in order, until its reservation covers a piece of the answer. */
export class HeldWork {
  #queue: Work[] | undefined;

  get isWaiting(): boolean {
    return this.#queue !== undefined;
  }

  /** True if the work has to wait behind a piece. */
  defers(work: Work): boolean {
    return this.#queue !== undefined && this.#queue.push(work) > 0;
  }

  /**
   * Holds `work` and everything that is deferred meanwhile until `covered` resolves, then hands it to `run`. Calls
   * `done` when nothing is left.
   */
  hold(covered: Promise<void>, work: Work, { run, done }: { run(work: Work): void; done(): void }): void {
    const queue = (this.#queue = [work]);
    const resume = () => {
      this.#queue = undefined;
      for (let next = queue.shift(); next; next = this.#queue ? undefined : queue.shift()) run(next);
      if (this.#queue) (this.#queue as Work[]).push(...queue);
      else done();
    };
    void covered.then(resume, resume);
  }
}
