/**
 * The part of Stripe's library that tests use. Its own types import Node's, whose `setTimeout` and others would
 * replace the Worker's (`paths` in tsconfig.json).
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
