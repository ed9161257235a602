SECOND = {}
