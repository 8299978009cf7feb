extension Duration {
  /// The duration in microseconds, rounded down.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let limit = Int64.max / 2
    if isTooLong || product.magnitude > limit.magnitude { return seconds < 0 ? -limit : limit }
    return product + attoseconds / 1_000_000_000_000
  }
}
