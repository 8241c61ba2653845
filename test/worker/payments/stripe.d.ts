/**
 * As much of Stripe's library as tests use. Its own types bring Node's along, whose `setTimeout` and
 * friends would stand in place of the Worker's (`paths` in tsconfig.json).
 */
export default class Stripe {
  constructor(secret_key: string);
  readonly webhooks: {
    generateTestHeaderStringAsync(options: {
      readonly payload: string;
      readonly secret: string;
      /** In seconds since the epoch. */
      readonly timestamp: number;
    }): Promise<string>;
  };
}
