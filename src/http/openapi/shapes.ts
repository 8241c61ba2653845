/** What the schemas of responses are made of. Responses are strict, so that tests fail on a field that is missing there. */
import * as z from "zod";

export const count = z.int().min(0);
export const positive = z.int().min(1);
export const text_or_null = z.string().nullable();

/** An object that the document, and the types of the clients, know by its name. */
export const named = <Shape extends z.ZodRawShape>(
  id: string,
  shape: Shape,
  description?: string,
): z.ZodObject<Shape, z.core.$strict> =>
  z.strictObject(shape).meta(description === undefined ? { id } : { id, description });
