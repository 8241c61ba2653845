/** The kinds of objects at the payment service that mean something for an account. */
export type PaymentList = "checkouts" | "refunds" | "disputes";
